/** Items as CSV: a column for each field, a row for each item, values as they were written. */

import { linesOf } from '../../client/ndjson.ts'
import { excerpt } from '../../contract/message-text.ts'
import { stringOf, type VisitField, visitFields } from '../../items/item-fields.ts'
import { csvRow, csvText } from '../csv-text.ts'
import { Failure } from '../failure.ts'
import { formatCount, formatItems } from '../figures.ts'
import type { PullForm } from './form.ts'

/** The columns of a file are not those of the items any more; the message says why. */
export class OtherColumns extends Error {
  override readonly name = 'OtherColumns'
}

/** More than spreadsheets take. Where the names of fields are data, there is no end of them. */
const MAX_COLUMNS = 10_000

export class CsvForm implements PullForm {
  readonly #places: ReadonlyMap<string, number>
  readonly #header: string
  readonly #isChosen: boolean
  /** Columns for which no item had a field yet. */
  readonly unused: Set<string>

  /** `isChosen`: whether fields without a column are left out; otherwise they are OtherColumns. */
  constructor(columns: readonly string[], isChosen: boolean) {
    this.#places = new Map(columns.map((name, place) => [name, place]))
    this.#header = `${csvRow(columns.map(csvText))}\n`
    this.#isChosen = isChosen
    this.unused = new Set(columns)
  }

  render(lines: Uint8Array, before: number): Uint8Array {
    if (this.#places.size === 0 && lines.length > 0)
      throw new Failure(1, 'No item has any field, so there is nothing for CSV to hold. Take --format ndjson or json.')
    let text = before === 0 && lines.length > 0 ? this.#header : ''
    let item = before
    for (const line of linesOf(lines)) text += `${this.#row(line, ++item)}\n`
    return Buffer.from(text)
  }

  end(items: number): Uint8Array {
    return Buffer.from(items === 0 && this.#places.size > 0 ? this.#header : '')
  }

  record(line: Uint8Array): Uint8Array {
    return Buffer.from(this.#row(line, 0))
  }

  #row(line: Uint8Array, item: number): string {
    const row = new Array<string>(this.#places.size).fill('')
    readFields(line, item, (name, jsonOf) => {
      const place = this.#places.get(name)
      if (place !== undefined) {
        row[place] = valueText(jsonOf())
        this.unused.delete(name)
      } else if (!this.#isChosen)
        throw new OtherColumns(`items have a field "${name}" by now, for which there is no column`)
    })
    return csvRow(row)
  }
}

/** The names of all fields, in the order in which they come first. */
export class CsvColumns {
  readonly #names: Set<string>

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  add(lines: Uint8Array, before: number): void {
    let item = before
    for (const line of linesOf(lines)) readFields(line, ++item, (name) => this.#names.add(name))
    if (this.#names.size > MAX_COLUMNS)
      throw new Failure(
        1,
        `The first ${formatItems(item)} have more than ${formatCount(MAX_COLUMNS)} different fields. Choose those that become columns: --columns a,b,c`,
      )
  }
}

/** Throws a Failure for what cannot be a row. `item` counts from 1. */
function readFields(line: Uint8Array, item: number, visit: VisitField): void {
  if (visitFields(line, visit)) return
  throw new Failure(
    1,
    `Item ${formatCount(item)} is not an object, so it has no fields for CSV: ${excerpt(line, 0, line.length)}. Take --format ndjson or json.`,
  )
}

/** Nothing for null, the text of a string, and for anything else what was written. */
function valueText(json: string): string {
  if (json === 'null') return ''
  return csvText(json.startsWith('"') ? stringOf(json) : json)
}
