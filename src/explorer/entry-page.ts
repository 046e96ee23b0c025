/** The page of the entry point: all collections, with their sizes. */

import { collectionUrl, entryUrl } from '../contract/link.ts'
import { counted, formatCount } from '../contract/message-text.ts'
import { lastPage } from '../contract/page.ts'
import { visible } from './browser/text.ts'
import { type Html, html } from './html.ts'
import { type MirrorFacts, mirrorLine } from './mirror-line.ts'
import { codePopover, fetchCall, heading, localHref, type Page } from './page-parts.ts'
import { bar } from './value.ts'

/** A collection as its page and the entry show it. */
export interface CollectionFacts {
  readonly name: string
  /** How many items it has. */
  readonly live: number
  readonly keyField: string | null
  readonly isPaginated: boolean
  readonly isPrivate: boolean
  /** The id of the last commit. */
  readonly commitId?: string
}

export interface ListedFacts extends CollectionFacts {
  /** The time of its last change, in milliseconds since 1970; null where nobody knows it. */
  readonly changedAt: number | null
  /** Of a mirror. */
  readonly mirror?: MirrorFacts | undefined
}

export function entryPage(baseUrl: string, collections: readonly ListedFacts[], isComplete: boolean): Page {
  const url = entryUrl(baseUrl)
  const items = collections.reduce((sum, { live }) => sum + live, 0)
  const facts = [counted(collections.length, 'collection'), counted(items, 'item')]
  if (!isComplete) facts.push('and perhaps more: a part of the store is away')
  const code = html`const { _embedded } = await (${fetchCall(url)}).json()
console.table(_embedded.collections)`
  const list = collections.length === 0 && isComplete ? NOTHING : tableOf(baseUrl, collections)
  const main = html`${heading('Collections', [facts.join(', ')], codePopover(url, code))}${list}`
  return { title: 'Collections', trail: ['Collections'], main, url }
}

const NOTHING = html`<section class="notice"><h2>Nothing to see yet</h2>
<p>There is no collection that everybody may read. <code>reams import</code> makes one from a file; a private one shows
with a token.</p>
</section>`

function tableOf(baseUrl: string, collections: readonly ListedFacts[]): Html {
  const largest = Math.max(1, ...collections.map(({ live }) => live))
  const hasMirrors = collections.some(({ mirror }) => mirror !== undefined)
  const own = ['Collection', 'Items', 'Pages', 'Size', 'Flags', 'Last change']
  const names = hasMirrors ? [...own, 'Mirror of'] : own
  return html`<div class="scroller" role="region" aria-label="Collections" tabindex="0"><table class="collections">
<caption>All collections, with their sizes</caption>
<thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${collections.map((collection) => rowOf(baseUrl, collection, { largest, hasMirrors }))}</tbody>
</table></div>`
}

interface Table {
  readonly largest: number
  readonly hasMirrors: boolean
}

function rowOf(baseUrl: string, collection: ListedFacts, { largest, hasMirrors }: Table): Html {
  const { name, live, isPaginated, mirror } = collection
  const href = localHref(baseUrl, collectionUrl(baseUrl, name))
  return html`<tr><th scope="row"><a href="${href}">${name}</a></th>
<td class="number">${formatCount(live)}</td><td class="number">${isPaginated ? formatCount(lastPage(live)) : '–'}</td>
<td>${bar(live / largest)}</td><td>${flagsOf(collection).join(' · ')}</td><td>${timeOf(collection)}</td>${hasMirrors ? html`<td>${mirror && mirrorLine(mirror)}</td>` : ''}</tr>
`
}

function timeOf({ changedAt }: ListedFacts): Html | string {
  if (changedAt === null) return '–'
  const time = new Date(changedAt).toISOString()
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function flagsOf({ isPaginated, isPrivate, keyField }: CollectionFacts): string[] {
  return [
    ...(isPrivate ? ['private'] : []),
    ...(isPaginated ? [] : ['not paginated']),
    ...(keyField === null ? [] : [`key: ${visible(keyField)}`]),
  ]
}
