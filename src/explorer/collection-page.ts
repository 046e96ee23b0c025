/** The page of a collection, of an earlier state of it, or of its changes: one page of items, and the way to the others. */

import { keyFieldNames } from '../contract/key.ts'
import { changesPath, collectionUrl, pageLinks, pageUrl, rawUrl, snapshotPath } from '../contract/link.ts'
import { counted, formatCount } from '../contract/message-text.ts'
import { lastPage, pageRange } from '../contract/page.ts'
import type { StateTag } from '../contract/state-tag.ts'
import { brief, itemsOn } from './browser/text.ts'
import { type CollectionFacts, flagsOf } from './entry-page.ts'
import { type Content, type Html, html } from './html.ts'
import { itemsTable } from './items-table.ts'
import { type MirrorFacts, mirrorLine } from './mirror-line.ts'
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
  /** The state that the collection is in, where it keeps its history. */
  readonly state?: StateTag | undefined
  /** Of a mirror. */
  readonly mirror?: MirrorFacts | undefined
}

export interface PastContent extends Omit<CollectionContent, 'state' | 'mirror'> {
  /** With so many items in that state, or so many changes since. */
  readonly collection: CollectionFacts
  readonly state: StateTag
  /** Whether the changes since that state are shown, and not the state. */
  readonly isChanges: boolean
}

/** What the page shows, and how it says so. */
interface View {
  /** Stands for the name in addresses. */
  readonly path: string
  /** The path of a snapshot of the same items, if there is one, so that writes do not change what the script reads. */
  readonly valuesPath: string
  readonly title: string
  readonly trail: readonly Content[]
  /** Below the heading, in front of what is said of every collection. */
  readonly facts: readonly string[]
  /** Other views of the collection. */
  readonly links: readonly Content[]
  readonly whenEmpty: Html
}

export function collectionPage(baseUrl: string, content: CollectionContent): Page {
  const { collection, page, state, mirror } = content
  const { name, live } = collection
  const past = state && snapshotPath(name, state)
  return viewPage(baseUrl, content, codeFor(baseUrl, collection, page), {
    path: name,
    valuesPath: past ?? name,
    title: name,
    trail: [name],
    facts: [counted(live, 'item')],
    links: past === undefined ? [] : [linkTo(baseUrl, past, 'Snapshot')],
    whenEmpty: mirror === undefined ? EMPTY : EMPTY_MIRROR,
  })
}

/** Its items are not those that the collection has now: none of them leads to one. */
export function pastPage(baseUrl: string, content: PastContent): Page {
  const { collection, page, state, isChanges } = content
  const { name, live } = collection
  const path = isChanges ? changesPath(name, state) : snapshotPath(name, state)
  const version = `version ${formatCount(state.version)}`
  const title = isChanges ? `${name}, changes since ${version}` : `${name} as of ${version}`
  const other = isChanges
    ? linkTo(baseUrl, snapshotPath(name, state), 'Snapshot')
    : linkTo(baseUrl, changesPath(name, state), 'Changes since')
  const facts = { ...collection, keyField: null }
  // Changes are those up to the last commit.
  const shown = { ...content, collection: isChanges ? facts : { ...facts, commitId: state.commitId } }
  return viewPage(baseUrl, shown, codeForPath(baseUrl, path, page), {
    path,
    valuesPath: path,
    title,
    trail: [linkTo(baseUrl, name, name), isChanges ? `changes since ${version}` : version],
    facts: isChanges ? [counted(live, 'change'), 'oldest first'] : [counted(live, 'item'), 'read only'],
    links: [other, linkTo(baseUrl, name, 'Live collection')],
    whenEmpty: isChanges ? UNCHANGED : WAS_EMPTY,
  })
}

function viewPage(baseUrl: string, content: CollectionContent, code: Html, view: View): Page {
  const { collection, page, mirror } = content
  const { live, isPaginated } = collection
  const { path, title, trail, facts, links, whenEmpty } = view
  const urlIn = (base: string) => (isPaginated ? pageUrl(base, path, page) : collectionUrl(base, path))
  const place = isPaginated ? [`page ${formatCount(page)} of ${formatCount(lastPage(live))}`] : []
  const actions = [
    rawLink(baseUrl, urlIn(rawUrl(baseUrl))),
    codePopover(urlIn(baseUrl), code),
    popover('download', 'Download', DOWNLOAD),
    ...links,
  ]
  const main = html`${heading(title, [...facts, ...place, ...flagsOf(collection)], actions)}
${
  mirror &&
  html`<p class="facts">Mirror of ${mirrorLine(mirror)}</p>
`
}${isPaginated ? pager(baseUrl, path, live, page) : ''}${live === 0 ? whenEmpty : itemsOf(baseUrl, content, view.valuesPath)}`
  return {
    title: page > 1 ? `${title}, page ${page}` : title,
    trail: [entryLink(baseUrl), ...trail],
    main,
    url: urlIn(baseUrl),
    collection: path,
    page: isPaginated ? page : undefined,
  }
}

function linkTo(baseUrl: string, path: string, label: string): Html {
  return html`<a href="${localHref(baseUrl, collectionUrl(baseUrl, path))}">${label}</a>`
}

const EMPTY = html`<section class="notice"><h2>No items yet</h2>
<p>The collection is there and empty. <code>reams import</code>, <code>reams push</code> or a <code>POST</code> to this
address puts items into it.</p>
</section>`

const EMPTY_MIRROR = html`<section class="notice"><h2>No items yet</h2>
<p>The collection that this is a mirror of had none.</p>
</section>`

const WAS_EMPTY = html`<section class="notice"><h2>No items</h2>
<p>The collection was empty then.</p>
</section>`

const UNCHANGED = html`<section class="notice"><h2>No changes</h2>
<p>The collection still is in that state.</p>
</section>`

const DOWNLOAD = html`<div class="row">${action('ndjson', 'NDJSON')}${action('csv', 'CSV')}
<button type="button" data-action="cancel" hidden>Cancel</button></div>
<progress aria-label="Items" hidden></progress>
<p role="status">All items, read page by page and put together in this tab. It needs JavaScript.</p>`

/** For what has a path of its own below the base URL, but is no collection by name. */
function codeForPath(baseUrl: string, path: string, page: number): Html {
  return html`import { openCollection } from 'reams/client'

const url = ${quoted(collectionUrl(baseUrl, path))}
const collection = openCollection(url<span class="with-token">, { token }</span>)
const page = await collection.page(${page})
console.log(page.itemCount, page.items)

// All of all pages:
for await (const item of collection.items()) console.log(item)`
}

function codeFor(baseUrl: string, { name }: CollectionFacts, page: number): Html {
  const opened = html`client.collection('${name}')`
  return html`import { createClient } from 'reams/client'

const client = createClient(${quoted(baseUrl)}<span class="with-token">, { token }</span>)
const page = await ${opened}.page(${Math.max(page, 1)})
console.log(page.itemCount, page.items)

// All items of all pages:
const items = ${opened}.items()
for await (const item of items) console.log(item)`
}

function itemsOf(baseUrl: string, { collection, page, pieces }: CollectionContent, path: string): Content {
  const { live, isPaginated } = collection
  const { start, end } = isPaginated ? pageRange(page, live) : { start: 0, end: live }
  const { table, notes } = itemsTable(baseUrl, collection, { pieces, before: start, count: end - start, path })
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
<input id="find" size="12" autocomplete="off" spellcheck="false" required title="${keyHint(keyField ?? '')}"><button>Find</button></form>
`
  return html`<div class="tools scripted"><label for="filter">Filter <span>this page</span></label>
<input type="search" id="filter" size="16" autocomplete="off" spellcheck="false"><small role="status"></small>
${keyField === null ? '' : find}</div>
`
}

function keyHint(keyField: string): string {
  if (keyFieldNames(keyField).length === 1) return 'Enter the key of an item.'
  return 'Enter the values with a comma between them. Within a value, write \\, for a comma and \\\\ for a backslash.'
}

/** The same links as those of the data, a field to jump to a page, and a strip that shows where it is. */
function pager(baseUrl: string, path: string, live: number, page: number): Html {
  const { first, prev, next, last } = pageLinks(baseUrl, path, page, live)
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
