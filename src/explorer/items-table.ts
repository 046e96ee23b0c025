/** The items of a page as a table: a column for each field, in the order in which they first appear. */

import { itemUrl } from '../contract/link.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { count } from './browser/figures.ts'
import { cellOf, keyOf, shortened } from './cell.ts'
import { type Html, html } from './html.ts'
import { fieldsOf, type ItemFields, itemsIn, LOOKED_AT_BYTES } from './item-fields.ts'
import { type CollectionFacts, localHref, type Site } from './site.ts'

/** Where names are data there is no end of them. */
const MAX_COLUMNS = 200
/** What browsers lay out without a pause. All rows are there, because each leads to the whole item. */
const MAX_CELLS = 25_000
/** Of all rows together, about. */
const MAX_CHARACTERS = 2 * 1024 * 1024
/** Of all items together, about: what is looked at, but for the parts of items that no page shows. */
const MAX_BYTES = 2 * 1024 * 1024

export interface Rows {
  /** Items in a row, as the store hands them out: JSON texts, each on a line of its own. */
  readonly pieces: Iterable<Uint8Array>
  /** The number of the first one in the whole collection, counted from 1. */
  readonly first: number
}

export interface ItemsTable {
  readonly table: Html
  /** What it leaves out, in sentences. */
  readonly notes: readonly string[]
}

export function itemsTable(site: Site, collection: CollectionFacts, { pieces, first }: Rows): ItemsTable {
  const items = firstItems(pieces)
  const names = [...new Set(items.flatMap(({ fields }) => [...fields.keys()]))]
  const columns = names.slice(0, Math.min(MAX_COLUMNS, Math.floor(MAX_CELLS / items.length)))
  const rows: Html[] = []
  let characters = 0
  for (const [place, item] of items.entries()) {
    if (characters > MAX_CHARACTERS) break
    const row = rowOf(site, collection, item, columns, first + place)
    rows.push(row)
    characters += row.text.length
  }
  const headings = columns.map((name) => html`<th scope="col">${shortened(name)}</th>`)
  const table = html`<div class="scroller" role="region" aria-label="Items" tabindex="0"><table class="items">
<caption>Items of ${collection.name}</caption>
<thead><tr><th scope="col">#</th>${headings}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
  const left = Math.min(PAGE_SIZE, collection.live - first + 1) - rows.length
  return { table, notes: notesOf(names.length - columns.length, rows.length, left, items) }
}

/** As many as a page has, at most; a collection without pages may have more. */
function firstItems(pieces: Iterable<Uint8Array>): ItemFields[] {
  const items: ItemFields[] = []
  let bytes = 0
  for (const piece of pieces)
    for (const item of itemsIn(piece)) {
      if (items.length === PAGE_SIZE || bytes > MAX_BYTES) return items
      items.push(fieldsOf(item))
      bytes += Math.min(item.length, LOOKED_AT_BYTES)
    }
  return items
}

function rowOf(
  site: Site,
  { name, keyField }: CollectionFacts,
  { fields }: ItemFields,
  columns: readonly string[],
  number: number,
): Html {
  const key = keyField === null ? undefined : keyOf(fields.get(keyField))
  const label = count(number)
  const href = key === undefined ? undefined : localHref(site, itemUrl(site.baseUrl, name, key))
  const heading = href === undefined ? label : html`<a href="${href}">${label}</a>`
  return html`<tr><th scope="row">${heading}</th>${columns.map((column) => cellOf(fields.get(column)))}</tr>
`
}

function notesOf(leftColumns: number, rows: number, leftRows: number, items: readonly ItemFields[]): string[] {
  const cut = items.filter(({ isCut }) => isCut).length
  return [
    ...(leftColumns > 0 ? [`${count(leftColumns)} more fields have no column here.`] : []),
    ...(leftRows > 0 ? [`The first ${count(rows)} items are shown; the others would be too much for a page.`] : []),
    ...(cut > 0 ? [`Of ${count(cut)} large items only the beginning is shown.`] : []),
  ]
}
