/** The page of a collection: one page of its items, and the way to the others. */

import { collectionUrl, pageLinks, pageUrl, rawUrl } from '../contract/link.ts'
import { counted, formatCount } from '../contract/message-text.ts'
import { lastPage, pageRange } from '../contract/page.ts'
import { brief, itemsOn } from './browser/text.ts'
import { type CollectionFacts, flagsOf } from './entry-page.ts'
import { type Content, type Html, html } from './html.ts'
import { itemsTable } from './items-table.ts'
import {
  action,
  codePopover,
  entryLink,
  heading,
  ITEM_ACTIONS,
  localHref,
  type Page,
  popover,
  quoted,
  rawLink,
} from './page-parts.ts'

export interface CollectionContent {
  readonly collection: CollectionFacts
  /** The page that is shown; 0 for a collection without pages. */
  readonly page: number
  /** Items in a row, as the store hands them out: JSON texts, each on a line of its own. */
  readonly pieces: Iterable<Uint8Array>
}

export function collectionPage(baseUrl: string, content: CollectionContent): Page {
  const { collection, page } = content
  const { name, live, isPaginated } = collection
  const urlIn = (base: string) => (isPaginated ? pageUrl(base, name, page) : collectionUrl(base, name))
  const place = isPaginated ? [`page ${formatCount(page)} of ${formatCount(lastPage(live))}`] : []
  const actions = [
    rawLink(baseUrl, urlIn(rawUrl(baseUrl))),
    codePopover(urlIn(baseUrl), codeFor(baseUrl, content)),
    popover('download', 'Download', DOWNLOAD),
  ]
  const main = html`${heading(name, [counted(live, 'item'), ...place, ...flagsOf(collection)], actions)}
${isPaginated ? pager(baseUrl, collection, page) : ''}${live === 0 ? EMPTY : itemsOf(baseUrl, content)}`
  const title = page > 1 ? `${name}, page ${page}` : name
  const trail = [entryLink(baseUrl), name]
  return { title, trail, main, url: urlIn(baseUrl), collection: name, page: isPaginated ? page : undefined }
}

const EMPTY = html`<section class="notice"><h2>No items yet</h2>
<p>The collection is there and empty. <code>reams import</code>, <code>reams push</code> or a <code>POST</code> to this
address puts items into it.</p>
</section>`

const DOWNLOAD = html`<div class="row">${action('ndjson', 'NDJSON')}${action('csv', 'CSV')}
<button type="button" data-action="cancel" hidden>Cancel</button></div>
<progress aria-label="Items" hidden></progress>
<p role="status">All items, read page by page and put together in this tab. It needs JavaScript.</p>`

function codeFor(baseUrl: string, { collection, page }: CollectionContent): Html {
  const opened = html`client.collection('${collection.name}')`
  return html`import { createClient } from 'reams/client'

const client = createClient(${quoted(baseUrl)}<span class="with-token">, { token }</span>)
const page = await ${opened}.page(${Math.max(page, 1)})
console.log(page.itemCount, page.items)

// All items of all pages:
const items = ${opened}.items()
for await (const item of items) console.log(item)`
}

function itemsOf(baseUrl: string, { collection, page, pieces }: CollectionContent): Content {
  const before = collection.isPaginated ? pageRange(page, collection.live).start : 0
  const { table, notes } = itemsTable(baseUrl, collection, { pieces, before })
  const remarks = notes.length === 0 ? '' : html`<p class="notes">${notes.join(' ')}</p>\n`
  return html`${remarks}${tools(collection)}<div class="beside">${table}
<aside class="item" hidden>
<div class="row"><h2 tabindex="-1"></h2>${action('close', 'Close')}</div>
<div class="row">${ITEM_ACTIONS}<a>Open</a></div>
<pre class="json" tabindex="0"></pre></aside></div>`
}

/** For the script: all of it works on the items that are shown, but for the key, which leads to an item of any page. */
function tools({ keyField }: CollectionFacts): Html {
  const find = html`<form><label for="find">Item by key (${brief(keyField ?? '', 20)})</label>
<input id="find" size="12" autocomplete="off" spellcheck="false" required title="Enter the key of an item."><button>Find</button></form>
`
  return html`<div class="tools scripted"><label for="filter">Filter <span>this page</span></label>
<input type="search" id="filter" size="16" autocomplete="off" spellcheck="false"><small role="status"></small>
${keyField === null ? '' : find}</div>
`
}

/** The same links as those of the data, a field to jump to a page, and a strip that shows where it is. */
function pager(baseUrl: string, { name, live }: CollectionFacts, page: number): Html {
  const { first, prev, next, last } = pageLinks(baseUrl, name, page, live)
  const link = (rel: string, label: string, target?: { href: string }) =>
    target === undefined
      ? html`<a rel="${rel}" role="link" aria-disabled="true">${label}</a>`
      : html`<a rel="${rel}" href="${localHref(baseUrl, target.href)}">${label}</a>`
  const pages = lastPage(live)
  return html`<nav class="pager" aria-label="Pages">${link('first', '« First', page === 1 ? undefined : first)}${link('prev', '‹ Prev', prev)}
${link('next', 'Next ›', next)}${link('last', 'Last »', page === pages ? undefined : last)}
<form method="get" action="${localHref(baseUrl, first.href)}"><label for="jump">Page</label>
<input id="jump" name="page" inputmode="numeric" size="${String(pages).length + 1}" value="${page}" required
  pattern="0*[1-9][0-9]*" title="Enter a number from 1 to ${formatCount(pages)}.">of ${formatCount(pages)}<noscript><button>Go</button></noscript></form>
<div class="strip scripted"><input type="range" min="1" max="${pages}" value="${page}" aria-label="Place in the collection"
  aria-valuetext="Page ${page}, ${itemsOn(page, live)}" data-item-count="${live}"${pages === 1 ? html` disabled` : ''}>
<output>${itemsOn(page, live)}</output></div>
</nav>
`
}
