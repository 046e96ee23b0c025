/** The page of a collection: one page of its items, and the way to the others. */

import { collectionUrl, entryUrl, pageLinks, pageUrl, rawUrl } from '../contract/link.ts'
import { lastPage, PAGE_SIZE, pageRange } from '../contract/page.ts'
import { count, counted } from './browser/figures.ts'
import { documentOf } from './document.ts'
import { flagsOf } from './entry-page.ts'
import { type Content, type Html, html } from './html.ts'
import { itemsTable, type Rows } from './items-table.ts'
import { type CollectionFacts, localHref, type Site } from './site.ts'

export interface CollectionContent extends Pick<Rows, 'pieces'> {
  readonly collection: CollectionFacts
  /** The page that is shown; 0 for a collection without pages. */
  readonly page: number
}

export function collectionPage(site: Site, content: CollectionContent): string {
  const { collection, page } = content
  const { name, isPaginated } = collection
  const title = isPaginated && page > 1 ? `${name}, page ${page} · Reams` : `${name} · Reams`
  const entry = html`<a href="${localHref(site, entryUrl(site.baseUrl))}">Collections</a>`
  const main = html`<h1>${name}</h1>
<p class="facts">${factsOf(content).join(' · ')} · ${rawLink(site, content)}</p>
${collection.live === 0 ? EMPTY : itemsOf(site, content)}`
  const shown = isPaginated ? { page } : {}
  return documentOf(site, { view: 'collection', title, trail: [entry, name], main, collection: name, ...shown })
}

const EMPTY = html`<section class="notice"><h2>No items yet</h2>
<p>The collection is there and empty. <code>reams import</code>, <code>reams push</code> or a <code>POST</code> to this address puts items into it.</p>
</section>`

function factsOf({ collection, page }: CollectionContent): string[] {
  const { live, isPaginated } = collection
  const { start, end } = pageRange(page, live)
  const place = [`page ${count(page)} of ${count(lastPage(live))}`, `items ${count(start + 1)} to ${count(end)}`]
  return [counted(live, 'item'), ...(isPaginated && live > 0 ? place : []), ...flagsOf(collection)]
}

function rawLink(site: Site, { collection, page }: CollectionContent): Html {
  const { name, isPaginated } = collection
  const url = isPaginated ? pageUrl(rawUrl(site.baseUrl), name, page) : collectionUrl(rawUrl(site.baseUrl), name)
  return html`<a href="${localHref(site, url)}">raw JSON</a>`
}

function itemsOf(site: Site, { collection, page, pieces }: CollectionContent): Content {
  const first = collection.isPaginated ? pageRange(page, collection.live).start + 1 : 1
  const { table, notes } = itemsTable(site, collection, { pieces, first })
  const isPart = !collection.isPaginated && collection.live > PAGE_SIZE
  const sentences = isPart ? [`The first ${count(PAGE_SIZE)} items are shown; the raw JSON has all.`, ...notes] : notes
  const remarks = sentences.length === 0 ? '' : html`<p class="notes">${sentences.join(' ')}</p>\n`
  return collection.isPaginated ? [pager(site, collection, page), remarks, table] : [remarks, table]
}

/** The same links as those of the data. */
function pager(site: Site, { name, live }: CollectionFacts, page: number): Html {
  const { first, prev, next, last } = pageLinks(site.baseUrl, name, page, live)
  const links = [
    ['first', 'First', first],
    ['prev', 'Previous', prev],
    ['next', 'Next', next],
    ['last', 'Last', last],
  ] as const
  const anchors = links.map(([rel, label, link]) =>
    link === undefined
      ? html`<li><span>${label}</span></li>`
      : html`<li><a rel="${rel}" href="${localHref(site, link.href)}">${label}</a></li>`,
  )
  return html`<nav class="pager" aria-label="Pages"><ul>${anchors}</ul>
<form method="get" action="${localHref(site, first.href)}"><label>Page <input type="number" name="page" min="1" max="${lastPage(live)}" value="${page}" required></label> <button>Go</button></form>
</nav>
`
}
