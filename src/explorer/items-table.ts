/** The items of a page as a table: a row for each item, a column for each field, and above them what the columns hold. */

import { joinKey, keyFieldNames } from '../contract/key.ts'
import { itemUrl } from '../contract/link.ts'
import { formatCount } from '../contract/message-text.ts'
import { fieldsOf } from '../items/item-fields.ts'
import { brief } from './browser/text.ts'
import type { CollectionFacts } from './entry-page.ts'
import { type Content, type Html, html } from './html.ts'
import { localHref } from './page-parts.ts'
import { cellOf, type Detail, isShownWhole, type Kind, readValue, summaryOf, UNREAD, type Value } from './value.ts'

/** Roughly how many bytes a page reads of all its items together. Each item gets an equal share, … */
const READ_BYTES = 12 * 1024 * 1024
/** … but at least this many bytes. */
const MIN_READ_BYTES = 4 * 1024
/** Where names are data there is no end of them. */
const MAX_COLUMNS = 250
/** The number of cells that browsers lay out without a visible pause. Columns beyond it are left out, … */
const MAX_CELLS = 25_000
/** … but at least this many are shown. */
const MIN_COLUMNS = 4
/** Of the HTML of all rows, about. */
const MAX_CHARACTERS = 2 * 1024 * 1024

/** A larger page shows less of each value, but always all rows. */
const DETAILS: readonly Detail[] = [
  { text: 120, link: 2000, nested: 1000, outlined: 4000 },
  { text: 60, link: 500, nested: 250, outlined: 500 },
  { text: 40, link: 200, nested: 0, outlined: 200 },
]
const LEAST_DETAIL: Detail = { text: 16, link: 0, nested: 0, outlined: 200 }

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
  /** How many they are. */
  readonly count: number
  /** Where the script reads all of their values. */
  readonly path: string
}

interface Column {
  readonly name: string
  /** What all its values are, nulls aside; `text` where they differ. */
  readonly kind: Kind
  /** One for each item; undefined where it has no such field. */
  readonly values: readonly (Value | undefined)[]
}

interface Item {
  readonly fields: ReadonlyMap<string, string>
  /** Whether only its beginning was read. */
  readonly isCut: boolean
}

/** `notes` say what the table leaves out, in sentences. */
export function itemsTable(
  baseUrl: string,
  collection: CollectionFacts,
  { pieces, before, count, path }: Rows,
): { table: Html; notes: readonly string[] } {
  const items = readItems(pieces, Math.max(MIN_READ_BYTES, Math.floor(READ_BYTES / count)))
  const names = [...new Set(items.flatMap(({ fields }) => [...fields.keys()]))]
  const room = Math.max(MIN_COLUMNS, Math.floor(MAX_CELLS / items.length))
  const columns = names.slice(0, Math.min(MAX_COLUMNS, room)).map(columnOf(items))
  const keyNames = collection.keyField === null ? [] : keyFieldNames(collection.keyField)
  const pinned = pinnedOf(columns, keyNames)
  const openers = items.map(({ fields }, index) => {
    const key = keyOf(fields, keyNames)
    const href = key === undefined ? undefined : localHref(baseUrl, itemUrl(baseUrl, collection.name, key))
    return openerOf(href, before + index + 1)
  })
  const { rows, detail } = rowsOf(openers, columns, pinned)
  const shortened = columns.filter(({ values }) => values.some((value) => value && !isShownWhole(value, detail)))
  const left = names.length - columns.length
  const cut = items.filter(({ isCut }) => isCut).length
  const isAll = shortened.length === 0 && left === 0 && cut === 0
  const source = isAll ? '' : html` data-values="${path}" data-commit="${collection.commitId}"`
  const widths = [
    Math.max(4, formatCount(before + items.length).length + 2),
    ...columns.map((column) => widthOf(column, column === pinned)),
  ]
  const pixels = widths.map((width) => Math.round(width * CHARACTER_PX))
  const width = pixels.reduce((sum, each) => sum + each)
  const table = html`<div class="scroller" role="region" aria-label="Items" tabindex="0"><table class="items" width="${width}"${source}>
<caption>${collection.name}, items ${formatCount(before + 1)}–${formatCount(before + rows.length)}</caption>
<colgroup>${pixels.map((each) => html`<col width="${each}">`)}</colgroup>
<thead><tr><th scope="col">#</th>${columns.map((column) => headOf(column, column === pinned, shortened.includes(column)))}</tr>
<tr class="summary"><td></td>${columns.map((column) => html`<td${column === pinned ? PIN : ''}>${summaryOf(column.kind, column.values)}</td>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
  const notes: string[] = []
  if (left > 0) notes.push(`${formatCount(left)} more fields have no column here: open an item to see all of it.`)
  if (detail.nested === 0) notes.push('This page is large: values are shortened, and nested ones do not unfold.')
  if (cut > 0)
    notes.push(`Only the beginning of ${cut === 1 ? 'a large item' : `${formatCount(cut)} large items`} is shown.`)
  return { table, notes }
}

/** Reads the first `limit` bytes of each item. */
function readItems(pieces: Iterable<Uint8Array>, limit: number): Item[] {
  const items: Item[] = []
  for (const piece of pieces)
    for (const item of itemsIn(piece))
      items.push({ fields: fieldsOf(item.subarray(0, limit)), isCut: item.length > limit })
  return items
}

/** Renders all rows, with as much of each value as the page has room for. */
function rowsOf(
  openers: readonly Content[],
  columns: readonly Column[],
  pinned: Column | undefined,
  [detail = LEAST_DETAIL, ...lessDetail]: readonly Detail[] = DETAILS,
): { rows: readonly Html[]; detail: Detail } {
  const rows: Html[] = []
  let characters = 0
  for (const [index, opener] of openers.entries()) {
    const cells = columns.map((column) => cellOf(column.values[index], column === pinned, detail))
    const row = html`<tr><th scope="row">${opener}</th>${cells}</tr>
`
    rows.push(row)
    characters += row.text.length
    if (characters > MAX_CHARACTERS && detail !== LEAST_DETAIL) return rowsOf(openers, columns, pinned, lessDetail)
  }
  return { rows, detail }
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

function columnOf(items: readonly Item[]): (name: string) => Column {
  return (name) => {
    const values = items.map(({ fields, isCut }) => {
      const json = fields.get(name)
      if (json === undefined) return isCut ? UNREAD : undefined
      return readValue(json)
    })
    const kinds = new Set(values.map((value) => value?.kind ?? 'null'))
    kinds.delete('null')
    const [kind = 'null'] = kinds
    return { name, kind: kinds.size > 1 ? 'text' : kind, values }
  }
}

const PIN = html` class="pin"`
/** Tells the script that the column does not have all of its values. */
const SHORTENED = html` data-shortened`

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

function headOf({ name, kind }: Column, isPinned: boolean, isShortened: boolean): Html {
  return html`<th scope="col" class="${kind}${isPinned ? ' pin' : ''}" title="${brief(name)}"${isShortened ? SHORTENED : ''}>${brief(name)} <small>${kind}</small></th>`
}

/** Opens the item: on a page of its own where it has one, beside the table where there is a script. */
function openerOf(href: string | undefined, rank: number): Content {
  const label = `Open item ${formatCount(rank)}`
  if (href === undefined) return html`<button type="button" aria-label="${label}">${formatCount(rank)}</button>`
  return html`<a href="${href}" aria-label="${label}">${formatCount(rank)}</a>`
}

/** Undefined where the item has no key, or its key is not all in the part that was looked at. */
function keyOf(fields: Item['fields'], keyNames: readonly string[]): string | undefined {
  const values = keyNames.flatMap((name) => {
    const json = fields.get(name)
    if (json === undefined) return []
    const { text, isCut } = readValue(json)
    return isCut ? [] : [text]
  })
  return keyNames.length > 0 && values.length === keyNames.length ? joinKey(values) : undefined
}
