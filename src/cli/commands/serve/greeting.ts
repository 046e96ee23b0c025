/** What `serve` prints when it is ready: the collections, the addresses to open, and what to try next. */

import { ITEM_SEPARATOR } from '../../../contract/envelope.ts'
import { collectionUrl, entryUrl, itemUrl, pageUrl } from '../../../contract/link.ts'
import { counted, makeVisible } from '../../../contract/message-text.ts'
import { lastPage } from '../../../contract/page.ts'
import { itemKey } from '../../../items/item-scanner.ts'
import type { Head, Store } from '../../../store/store.ts'
import { StoreError } from '../../../store/store-error.ts'
import { alignTable, pagesOf } from '../../output.ts'

/** More would push the rest off the screen. */
const COLLECTIONS_SHOWN = 20

export interface GreetingOptions {
  readonly store: Store
  /** What is served, in words. */
  readonly title: string
  /** Collections with another name than the file or table, `of`, that they are made of. */
  readonly renamed?: readonly { readonly name: string; readonly of: string }[] | undefined
  readonly baseUrl: string
  /** Where the server listens, if the base URL does not tell. */
  readonly listensOn?: { readonly host: string; readonly port: number }
  /** Whether every request needs a token, also for what is public. */
  readonly isTokenRequired: boolean
  /** Where metrics are, if anywhere. */
  readonly adminUrl?: string | undefined
}

export async function greeting(options: GreetingOptions): Promise<string> {
  const { store, title, renamed = [], baseUrl, listensOn, isTokenRequired, adminUrl } = options
  const { lines, pages } = await contents(store, baseUrl)
  const header = isTokenRequired ? '-H "Authorization: Bearer $REAMS_TOKEN" ' : ''
  const where = listensOn === undefined ? '' : ` (port ${listensOn.port} of ${listensOn.host})`
  return [
    `Reams serves ${makeVisible(title)} at ${entryUrl(baseUrl)}${where}`,
    '',
    ...lines,
    ...renamed.map(
      ({ name, of }) => `  ${makeVisible(of)} is served at ${new URL(collectionUrl(baseUrl, name)).pathname}`,
    ),
    '',
    ...(adminUrl === undefined ? [] : [`For operators: ${adminUrl}/live, /ready and /metrics`, '']),
    `Try${isTokenRequired ? ', with a token from "reams token create" in REAMS_TOKEN' : ''}:`,
    // An apostrophe may stand in a URL, but would end the word for the shell.
    ...[entryUrl(baseUrl), ...pages].map((url) => `  curl ${header}'${url.replaceAll("'", '%27')}'`),
    '',
    'Ctrl-C stops it.',
  ].join('\n')
}

/** What cannot be read is no reason not to serve the rest. */
async function contents(store: Store, baseUrl: string): Promise<{ lines: string[]; pages: string[] }> {
  try {
    const { heads, away } = await store.reachable()
    const lines = collectionLines(heads, baseUrl)
    if (away.length === 0) return { lines, pages: await pagesToTry(store, heads, baseUrl) }
    const note = `  Away: ${away.join(', ')}. The collections there are served when it is back.`
    return { lines: [...lines, '', note], pages: [] }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { lines: [`  Not all of it can be read: ${error.message}`], pages: [] }
  }
}

function collectionLines(heads: readonly Head[], baseUrl: string): string[] {
  if (heads.length === 0) return ['  no collections yet; "reams import NAME FILE" creates one, also while this runs']
  const rows = heads
    .slice(0, COLLECTIONS_SHOWN)
    .map((head) => [
      `  ${head.name}`,
      counted(head.live, 'item'),
      pagesOf(head),
      head.isPrivate ? 'private' : collectionUrl(baseUrl, head.name),
    ])
  const more = heads.length - rows.length
  return [alignTable(rows, [1, 2]), ...(more > 0 ? [`  and ${more} more: "reams collections" lists them`] : [])]
}

/** The last page of the largest public collection, and one item where a public collection has keys. */
async function pagesToTry(store: Store, heads: readonly Head[], baseUrl: string): Promise<string[]> {
  const open = heads.filter((head) => !head.isPrivate)
  const largest = open.filter((head) => head.isPaginated).toSorted((a, b) => b.live - a.live)[0]
  const keyed = open.find((head) => head.keyField !== null && head.live > 0)
  // An example is not worth failing for: a store that is damaged in this place is served as far as it goes.
  const key = keyed && (await firstKey(store, keyed).catch(() => undefined))
  return [
    ...(largest ? [pageUrl(baseUrl, largest.name, lastPage(largest.live))] : []),
    ...(keyed && key !== undefined ? [itemUrl(baseUrl, keyed.name, key)] : []),
  ]
}

async function firstKey(store: Store, { name, keyField }: Head): Promise<string | undefined> {
  const text = (await store.page(name, 1))?.segments[0]?.raw()
  if (text === undefined || keyField === null) return undefined
  const separator = Buffer.from(text.buffer, text.byteOffset, text.byteLength).indexOf(ITEM_SEPARATOR)
  return itemKey(separator === -1 ? text : text.subarray(0, separator), keyField)
}
