/** A collection: one of its pages as a table, ways to the others, and an item beside it. */

import type { Page } from '../../client/page.ts'
import { collectionUrl, itemUrl, pageUrl, rawUrl } from '../../contract/link.ts'
import { pageRange } from '../../contract/page.ts'
import { codePopover } from './code.ts'
import { type Child, element } from './element.ts'
import { count, counted } from './figures.ts'
import { itemPanel } from './item.ts'
import { fieldsOf } from './json-text.ts'
import { notice } from './notice.ts'
import { itemsOn, pager } from './pager.ts'
import type { Session } from './session.ts'
import { focusRow, itemTable } from './table.ts'
import { readValue } from './value.ts'
import { heading, rawLink, type View } from './views.ts'

export interface CollectionPlace {
  readonly name: string
  readonly page: number
  /** The button that downloads all of it. */
  readonly download: readonly Child[]
  /** Leads to another address. */
  readonly go: (url: string) => void
}

export async function collectionView(
  session: Session,
  { name, page: asked, download, go }: CollectionPlace,
  signal: AbortSignal,
): Promise<View> {
  const page = await session.collection(name).page(asked, { signal })
  const { isPaginated, number, itemCount } = page
  const urlIn = (base: string) => (isPaginated ? pageUrl(base, name, number) : collectionUrl(base, name))
  const place = isPaginated ? `page ${count(number)} of ${count(page.lastPage)}` : 'not paginated'
  const actions = [
    ...rawLink(session, urlIn(rawUrl(session.root))),
    ...codeFor(session, name, page, urlIn),
    ...download,
  ]
  const content = [heading(name, [counted(itemCount, 'item'), place, session.lastAnswer], actions)]
  if (isPaginated) {
    const hrefOf = (relation: string) => linkOf(page, relation, session)
    content.push(pager(page, hrefOf, (target) => go(pageUrl(session.root, name, target))))
  }
  const empty = () => notice('No items yet', 'The collection is there, and it is empty.')
  content.push(itemCount === 0 ? empty() : beside(session, name, page, urlIn(session.baseUrl)))
  return { title: isPaginated && number > 1 ? `${name}, page ${number}` : name, content }
}

function linkOf({ links }: Page, relation: string, session: Session): string | undefined {
  const { href } = (links[relation] ?? {}) as { href?: string }
  return href && session.local(href)
}

function codeFor(session: Session, name: string, { number }: Page, urlIn: (base: string) => string): Child[] {
  const { baseUrl } = session
  return codePopover(
    session,
    urlIn(baseUrl),
    ({ options }) => `import { createClient } from 'reams/client'

const client = createClient('${baseUrl}'${options})
const page = await client.collection('${name}').page(${number})
console.log(page.itemCount, page.items)

// All items of all pages:
const items = client.collection('${name}').items()
for await (const item of items) console.log(item)`,
  )
}

/** The table, and beside it the item that is open. */
function beside(session: Session, name: string, page: Page, pageAddress: string): HTMLElement {
  const decoder = new TextDecoder()
  const items = Array.from(page.texts(), (text) => decoder.decode(text))
  const before = page.isPaginated ? pageRange(page.number, page.itemCount).start : 0
  let close = () => {}
  const open = async (row: HTMLTableRowElement) => {
    const index = row.sectionRowIndex
    const json = items[index] ?? ''
    const own = await urlOf(session, name, json)
    close()
    const options = { title: `Item ${count(before + index + 1)}`, json, url: own ?? pageAddress, isOwnUrl: !!own }
    const more = own ? [element('a', { href: session.local(own) }, 'Open')] : []
    const panel = itemPanel({ ...options, more }, () => {
      close()
      focusRow(row)
    })
    close = () => {
      panel.remove()
      row.ariaCurrent = null
    }
    row.ariaCurrent = 'true'
    all.append(panel)
    panel.querySelector('h2')?.focus()
  }
  const caption = `${name}, ${itemsOn(page.number, page.itemCount)}`
  const all = element('div', { class: 'beside' }, itemTable({ caption, items, before, open }))
  return all
}

/** The address of an item; undefined in a collection without a key. */
async function urlOf(session: Session, name: string, json: string): Promise<string | undefined> {
  const field = await session.keyField(name)
  const key = field ? fieldsOf(json).get(field) : undefined
  return key && itemUrl(session.baseUrl, name, readValue(key).text)
}
