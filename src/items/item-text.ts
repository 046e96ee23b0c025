/** Items written out: as NDJSON, and as CSV (RFC 4180) with a column for each field and values as they were written. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { stringOf, visitFields } from './item-fields.ts'

/** More than spreadsheets take. Where the names of fields are data, there is no end of them. */
export const MAX_COLUMNS = 10_000

/** What readers would take for something else, or could cut off: a delimiter of any kind too, because some find out which it is. */
const NEEDS_QUOTES = /^\s|[",;|\t\r\n]|\s$/

/** The columns of a file. Items are given as JSON text; one that is not an object has no fields. */
export class CsvColumns {
  readonly #places = new Map<string, number>()
  /** Columns for which no row had a field yet. */
  readonly unused = new Set<string>()

  readonly #delimiter: string

  constructor(names: Iterable<string> = [], delimiter = ',') {
    this.#delimiter = delimiter
    for (const name of names) this.#add(name)
  }

  get names(): string[] {
    return [...this.#places.keys()]
  }

  /** The first line, which names the columns. */
  get header(): string {
    return this.#line(this.names.map(quoted))
  }

  /** Adds a column for every field that has none. */
  addFields(item: Uint8Array): void {
    visitFields(item, (name) => this.#add(name))
  }

  /** The line of an item. `onOther` is told of fields without a column. */
  row(item: Uint8Array, onOther: (name: string) => void = () => {}): string {
    const fields = new Array<string>(this.#places.size).fill('')
    visitFields(item, (name, jsonOf) => {
      const place = this.#places.get(name)
      if (place === undefined) return onOther(name)
      fields[place] = valueText(jsonOf())
      this.unused.delete(name)
    })
    return this.#line(fields)
  }

  /** Readers skip empty lines, so a row of nothing but an empty field gets quotes. */
  #line(fields: readonly string[]): string {
    return `${fields.join(this.#delimiter) || '""'}\n`
  }

  #add(name: string): void {
    if (this.#places.has(name)) return
    this.#places.set(name, this.#places.size)
    this.unused.add(name)
  }
}

/** Nothing for null, the text of a string, and for anything else what was written, without blanks between tokens. */
function valueText(json: string): string {
  if (json === 'null') return ''
  return quoted(json.startsWith('"') ? stringOf(json) : compact(json))
}

/** Numbers and strings stay as they were written. */
function compact(json: string): string {
  let isString = false
  return json.replace(/\\.|"|\s+/g, (token) => {
    if (token === '"') isString = !isString
    return isString || token === '"' ? token : ''
  })
}

/** An empty text gets quotes too, which tells it from a field that is not there. */
function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const LINE_FEED = 0x0a

/** Turns the form in which a store holds items, which is not empty, into lines: a line feed stands in it only in ITEM_SEPARATOR. */
export function toNdjson(text: Uint8Array): Uint8Array {
  const lines = new Uint8Array(text.length + 1)
  let length = 0
  let start = 0
  for (let end = text.indexOf(LINE_FEED); end !== -1; end = text.indexOf(LINE_FEED, start)) {
    const item = text.subarray(start, end + 1 - ITEM_SEPARATOR.length)
    lines.set(item, length)
    length += item.length
    lines[length++] = LINE_FEED
    start = end + 1
  }
  lines.set(text.subarray(start), length)
  length += text.length - start
  lines[length++] = LINE_FEED
  return lines.subarray(0, length)
}

/** The lines of a text, each without its line feed. */
export function* linesOf(text: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf(LINE_FEED, start)
    if (end < 0) end = text.length
    yield text.subarray(start, end)
  }
}
