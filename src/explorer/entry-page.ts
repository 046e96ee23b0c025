/** The page of the entry point: all collections, with their sizes. */

import { collectionUrl } from '../contract/link.ts'
import { lastPage } from '../contract/page.ts'
import { count, counted, PART_AWAY } from './browser/figures.ts'
import { visible } from './browser/json-text.ts'
import { documentOf } from './document.ts'
import { type Html, html } from './html.ts'
import { type CollectionFacts, type ListedFacts, localHref, type Site } from './site.ts'

export function entryPage(site: Site, collections: readonly ListedFacts[], isComplete: boolean): string {
  const main = collections.length === 0 && isComplete ? NOTHING : tableOf(site, collections, isComplete)
  return documentOf(site, { view: 'entry', title: 'Collections · Reams', trail: ['Collections'], main })
}

const NOTHING = html`<h1>Collections</h1>
<section class="notice"><h2>Nothing to see yet</h2>
<p>There is no collection that everybody may read. <code>reams import</code> makes one of a file; one that is private shows with a token.</p>
</section>`

function tableOf(site: Site, collections: readonly ListedFacts[], isComplete: boolean): Html {
  const largest = Math.max(0, ...collections.map(({ live }) => live))
  const items = collections.reduce((sum, { live }) => sum + live, 0)
  return html`<h1>Collections</h1>
<p class="facts">${counted(collections.length, 'collection')}, ${counted(items, 'item')}${isComplete ? '' : `, ${PART_AWAY}`}</p>
<div class="scroller" role="region" aria-label="Collections" tabindex="0"><table class="collections">
<caption>All collections, with their sizes</caption>
<thead><tr><th scope="col">Collection</th><th scope="col">Items</th><th scope="col">Pages</th><th scope="col">Size</th><th scope="col">Flags</th><th scope="col">Last change</th></tr></thead>
<tbody>
${collections.map((collection) => rowOf(site, collection, largest))}</tbody>
</table></div>`
}

function rowOf(site: Site, collection: ListedFacts, largest: number): Html {
  const { name, live, isPaginated } = collection
  const href = localHref(site, collectionUrl(site.baseUrl, name))
  return html`<tr><th scope="row"><a href="${href}">${name}</a></th>
<td class="number">${count(live)}</td><td class="number">${isPaginated ? count(lastPage(live)) : '–'}</td>
<td>${bar(live, largest)}</td><td>${flagsOf(collection).join(' · ')}</td><td>${timeOf(collection)}</td></tr>
`
}

/** The figure beside it says the same. */
function bar(live: number, largest: number): Html {
  const width = largest === 0 ? 0 : (100 * live) / largest
  return html`<svg class="bar" viewBox="0 0 100 10" width="100" height="10" preserveAspectRatio="none" aria-hidden="true"><rect width="${width.toFixed(1)}" height="10"/></svg>`
}

function timeOf({ changedAt }: ListedFacts): Html | string {
  if (changedAt === null) return '–'
  const time = new Date(changedAt).toISOString()
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function flagsOf({ isPaginated, isPrivate, keyField }: CollectionFacts): string[] {
  return [
    isPaginated ? 'paginated' : 'not paginated',
    ...(keyField === null ? [] : [`key: ${visible(keyField)}`]),
    ...(isPrivate ? ['private'] : []),
  ]
}
