/** The items of a page as a table: a row for each item, a column for each field, and above them what the columns hold. */

import { joinKey, keyFieldNames } from '../contract/key.ts'
import { itemUrl } from '../contract/link.ts'
import { formatCount } from '../contract/message-text.ts'
import { fieldsOf } from '../items/item-fields.ts'
import { brief } from './browser/text.ts'
import type { CollectionFacts } from './entry-page.ts'
import { type Content, type Html, html } from './html.ts'
import { localHref } from './page-parts.ts'
import { cellOf, isCutOff, type Kind, readValue, summaryOf, type Value } from './value.ts'

/** Of one item a page looks at no more than this: otherwise few items could make it work for seconds. */
const LOOKED_AT_BYTES = 8 * 1024
/** Of all items together, about. */
const MAX_BYTES = 2 * 1024 * 1024
/** A page has 500, a collection without pages up to 10,000. */
const MAX_ROWS = 2_000
/** Where names are data there is no end of them. */
const MAX_COLUMNS = 250
/** What browsers lay out without a pause. Rows come first, because each leads to the whole item. */
const MAX_CELLS = 25_000
/** Of the HTML of all rows, about. */
const MAX_CHARACTERS = 2 * 1024 * 1024

/** Widths are in characters. All are given, so that a browser does not measure every cell. */
const MIN_WIDTH = 11
const MAX_WIDTH = 34
/** A pinned column always stays in sight, so it leaves room for others. */
const MAX_PINNED_WIDTH = 17
/** About the width of a character in a common font. */
const CHARACTER_PX = 8.4

const LINE_FEED = 0x0a

export interface Rows {
  readonly pieces: Iterable<Uint8Array>
  /** How many items stand before them in the collection. */
  readonly before: number
}

interface Column {
  readonly name: string
  /** What all its values are, nulls aside; `text` where they differ. */
  readonly kind: Kind
  /** One for each item; undefined where it has no such field. */
  readonly values: readonly (Value | undefined)[]
}

type Fields = ReadonlyMap<string, string>

/** `notes` say what the table leaves out, in sentences. */
export function itemsTable(
  baseUrl: string,
  collection: CollectionFacts,
  { pieces, before }: Rows,
): { table: Html; notes: readonly string[] } {
  const { items, cut, isAll } = firstItems(pieces)
  const names = [...new Set(items.flatMap((fields) => [...fields.keys()]))]
  const columns = names.slice(0, Math.min(MAX_COLUMNS, Math.floor(MAX_CELLS / items.length))).map(columnOf(items))
  const keyNames = collection.keyField === null ? [] : keyFieldNames(collection.keyField)
  const pinned = pinnedOf(columns, keyNames)
  const rows: Html[] = []
  let characters = 0
  for (const [index, fields] of items.entries()) {
    if (characters > MAX_CHARACTERS) break
    const cells = columns.map((column) => cellOf(column.values[index], column === pinned))
    const key = keyOf(fields, keyNames)
    const href = key === undefined ? undefined : localHref(baseUrl, itemUrl(baseUrl, collection.name, key))
    const row = html`<tr><th scope="row">${openerOf(href, before + index + 1)}</th>${cells}</tr>
`
    rows.push(row)
    characters += row.text.length
  }
  const widths = [
    Math.max(4, formatCount(before + items.length).length + 2),
    ...columns.map((column) => widthOf(column, column === pinned)),
  ]
  const pixels = widths.map((width) => Math.round(width * CHARACTER_PX))
  const width = pixels.reduce((sum, each) => sum + each)
  const table = html`<div class="scroller" role="region" aria-label="Items" tabindex="0"><table class="items" width="${width}">
<caption>${collection.name}, items ${formatCount(before + 1)}–${formatCount(before + rows.length)}</caption>
<colgroup>${pixels.map((each) => html`<col width="${each}">`)}</colgroup>
<thead><tr><th scope="col">#</th>${columns.map((column) => headOf(column, column === pinned))}</tr>
<tr class="summary"><td></td>${columns.map((column) => html`<td${column === pinned ? PIN : ''}>${summaryOf(column.kind, column.values)}</td>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
  const left = names.length - columns.length
  const notes: string[] = []
  if (!isAll || rows.length < items.length)
    notes.push(`The first ${formatCount(rows.length)} items are shown; the raw JSON has all.`)
  if (left > 0) notes.push(`${formatCount(left)} more fields have no column here: open an item to see all of it.`)
  if (cut > 0)
    notes.push(`Only the beginning of ${cut === 1 ? 'a large item' : `${formatCount(cut)} large items`} is shown.`)
  return { table, notes }
}

/** The fields of the first items, and how many of them were only looked at in part. */
function firstItems(pieces: Iterable<Uint8Array>): { items: Fields[]; cut: number; isAll: boolean } {
  const items: Fields[] = []
  let [bytes, cut] = [0, 0]
  for (const piece of pieces)
    for (const item of itemsIn(piece)) {
      if (items.length === MAX_ROWS || bytes > MAX_BYTES) return { items, cut, isAll: false }
      items.push(fieldsOf(item.subarray(0, LOOKED_AT_BYTES)))
      bytes += Math.min(item.length, LOOKED_AT_BYTES)
      if (item.length > LOOKED_AT_BYTES) cut++
    }
  return { items, cut, isAll: true }
}

/** The items of a piece of a page, each of which stands on a line of its own (D9). */
function* itemsIn(raw: Uint8Array): Generator<Uint8Array, void> {
  let start = 0
  for (let end = raw.indexOf(LINE_FEED); end !== -1; end = raw.indexOf(LINE_FEED, start)) {
    // The comma before the line break is not part of it.
    yield raw.subarray(start, end - 1)
    start = end + 1
  }
  yield raw.subarray(start)
}

function columnOf(items: readonly Fields[]): (name: string) => Column {
  return (name) => {
    const values = items.map((fields) => {
      const json = fields.get(name)
      return json === undefined ? undefined : readValue(json)
    })
    const kinds = new Set(values.map((value) => value?.kind ?? 'null'))
    kinds.delete('null')
    const [kind = 'null'] = kinds
    return { name, kind: kinds.size > 1 ? 'text' : kind, values }
  }
}

const PIN = html` class="pin"`

/**
 * What stays in sight while the table scrolls: the key, or the first of its fields; else the first short value that
 * every item has, else nothing.
 */
function pinnedOf(columns: readonly Column[], [keyName]: readonly string[]): Column | undefined {
  const isShort = (value: Value | undefined) =>
    value !== undefined && PINNED_KINDS.includes(value.kind) && value.text.length <= MAX_PINNED_WIDTH
  return columns.find(({ name }) => name === keyName) ?? columns.find(({ values }) => values.every(isShort))
}

const PINNED_KINDS: readonly Kind[] = ['text', 'number', 'date']

function widthOf({ name, kind, values }: Column, isPinned: boolean): number {
  const longest = values.reduce((most, value) => Math.max(most, value?.text.length ?? 0), name.length + kind.length)
  return Math.min(isPinned ? MAX_PINNED_WIDTH : MAX_WIDTH, Math.max(MIN_WIDTH, longest)) + 2
}

function headOf({ name, kind }: Column, isPinned: boolean): Html {
  return html`<th scope="col" class="${kind}${isPinned ? ' pin' : ''}" title="${brief(name)}">${brief(name)} <small>${kind}</small></th>`
}

/** Opens the item: on a page of its own where it has one, beside the table where there is a script. */
function openerOf(href: string | undefined, rank: number): Content {
  const label = `Open item ${formatCount(rank)}`
  if (href === undefined) return html`<button type="button" aria-label="${label}">${formatCount(rank)}</button>`
  return html`<a href="${href}" aria-label="${label}">${formatCount(rank)}</a>`
}

/** Undefined where the item has no key, or its key is not all in the part that was looked at. */
function keyOf(fields: Fields, keyNames: readonly string[]): string | undefined {
  const values = keyNames.flatMap((name) => {
    const json = fields.get(name)
    return json === undefined || isCutOff(json) ? [] : [readValue(json).text]
  })
  return keyNames.length > 0 && values.length === keyNames.length ? joinKey(values) : undefined
}
