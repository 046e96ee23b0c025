/**
 * Titles above the header of CSV, as spreadsheets and banks write them. They look like a header with few fields, and only the rows
 * that follow show where the table begins: this looks at the first of them, for an error that says how many lines to leave out.
 */

import { counted } from '../contract/message-text.ts'
import { DELIMITERS, readHeader } from './csv-header.ts'
import { errorAt, type InputError, type Piece } from './input-error.ts'

/** A table that begins later is not looked for. */
const LAST_LINE = 20

export class CsvTitles {
  readonly #header: Piece
  readonly #fields: number
  readonly #delimiter: string
  readonly #isDelimiterGiven: boolean
  /** The first field of the header without a name, counted from 0; -1 for none. */
  readonly #unnamed: number
  /** Where a table with more fields may begin, and which delimiters all rows since have in common: how often each. */
  #table: { readonly line: number; readonly counts: ReadonlyMap<string, number> } = { line: 0, counts: new Map() }

  /** Throws an InputError for a header that lacks a name, unless it may be a title. */
  constructor(names: readonly string[], header: Piece, delimiter: string, isDelimiterGiven: boolean) {
    this.#header = header
    this.#fields = names.length
    this.#delimiter = delimiter
    this.#isDelimiterGiven = isDelimiterGiven
    this.#unnamed = names.findIndex(isBlank)
    // Spreadsheets fill the lines of titles up with empty fields.
    const mayBeTitle = 2 * names.filter((name) => !isBlank(name)).length <= names.length
    if (this.#unnamed >= 0 && !mayBeTitle) throw this.#noName()
  }

  /** What to do if the rows so far look like a table below titles, to be appended to an error; or ''. */
  get advice(): string {
    return this.#table.counts.size === 0 ? '' : adviceFor(this.#table.line)
  }

  /** Looks at the next row. `unclear`: the header lacks a name, so there will be an error. `past`: no title comes any more. */
  add(values: readonly string[], row: Piece): 'table' | 'unclear' | 'past' {
    if (row.line > LAST_LINE) {
      this.end()
      return 'past'
    }
    if (this.#unnamed >= 0) {
      if (!values.some(isBlank)) throw this.#noName(adviceFor(row.line))
      return 'unclear'
    }
    const counts = this.#countsIn(row).set(this.#delimiter, values.length - 1)
    const wide = [...counts].filter(([, count]) => count + 1 >= 2 * this.#fields)
    const shared = wide.filter(([delimiter, count]) => this.#table.counts.get(delimiter) === count)
    const line = shared.length > 0 ? this.#table.line : row.line
    this.#table = { line, counts: new Map(shared.length > 0 ? shared : wide) }
    if (shared.length > 0 && values.length === 1 && !this.#isDelimiterGiven) throw this.#wrongDelimiter(shared[0]?.[0] ?? '')
    return 'table'
  }

  /** Nothing follows. */
  end(): void {
    if (this.#unnamed >= 0) throw this.#noName()
  }

  #countsIn({ bytes, start, end }: Piece): Map<string, number> {
    return new Map(readHeader(bytes.subarray(start, end)).counts)
  }

  #noName(advice = ''): InputError {
    const reason = `column ${this.#unnamed + 1} of the header is empty; give it a name, or remove it`
    return errorAt(`${reason}${advice}`, this.#header)
  }

  #wrongDelimiter(delimiter: string): InputError {
    const name = DELIMITERS.get(delimiter)
    const reason = `the header has ${counted(this.#fields, 'field')}, but ${name} seem to separate more from line ${this.#table.line} on`
    return errorAt(`${reason}${this.advice}; or if it is one field, --delimiter ,`, this.#header)
  }
}

function adviceFor(line: number): string {
  return `; if the header is on line ${line}, add --skip ${line - 1}`
}

function isBlank(value: string): boolean {
  return value.trim() === ''
}
