/** Reads CSV: the header line names the fields, every other row is an item. Values stay strings, unless their types are known. */

import { finished } from 'node:stream/promises'
import { type Parser, parse } from 'csv-parse'
import { counted } from '../contract/message-text.ts'
import type { ColumnTypes } from './csv-columns.ts'
import { adviceOnTitles, delimiterOf, FIRST_ROWS, readFirstRows, readHeader, separatorIn } from './csv-header.ts'
import { CARRIAGE_RETURN, errorAt, InputError, invalidText, LINE_FEED, type Piece } from './input-error.ts'
import { type InputBatch, ItemReader } from './item-reader.ts'
import { ItemError, type TextOptions } from './item-scanner.ts'
import type { InvalidText } from './utf8.ts'

/** The parser looks this far ahead before it hands out a row, line end included. */
const LOOK_AHEAD_BYTES = 16

interface Row {
  readonly values: readonly string[]
  /** The offset after it, in bytes of the whole input. */
  readonly end: number
}

export interface CsvOptions extends TextOptions {
  /** What separates the fields. Undefined: what the header shows. */
  readonly delimiter?: string | undefined
  /** How many lines at the beginning to leave out. Default: 0; a line `sep=;` at the very beginning is always left out. */
  readonly skip?: number | undefined
  /** Where they are not known yet, every row is added to them, and no items come. Undefined: all values are strings. */
  readonly types?: ColumnTypes | undefined
}

/** The first bytes of a zip file; newer spreadsheet formats are zip files. */
const ZIP = 'PK\u0003\u0004'

/** Holds back what comes until the header has shown how to read it. */
export class CsvReader extends ItemReader {
  readonly #options: CsvOptions
  #rows: RowReader | undefined
  #skip: number
  /** The one that was given, or that the first line names. */
  #delimiter: string | undefined

  constructor(options: CsvOptions) {
    super(options)
    this.#options = options
    this.#skip = options.skip ?? 0
    this.#delimiter = options.delimiter
  }

  async *push(block: Uint8Array): AsyncIterable<InputBatch> {
    if (this.#rows === undefined) {
      this.window.append(block)
      this.#rows = this.#start(false)
      block = this.#held
    }
    if (this.#rows !== undefined) yield* this.#rows.push(block)
  }

  async *end(invalid?: InvalidText): AsyncIterable<InputBatch> {
    if (this.#rows === undefined) {
      const hasHeader = this.line > this.#skip && readHeader(this.#held, this.line).isComplete
      if (invalid !== undefined && !hasHeader) throw invalidText(this.piece(), invalid)
      this.#rows = this.#start(true)
      yield* this.#rows.push(this.#held)
    }
    yield* this.#rows.end(invalid)
  }

  get #held(): Uint8Array {
    return this.window.bytes.subarray(this.window.start, this.window.end)
  }

  #start(isEnd: true): RowReader
  #start(isEnd: boolean): RowReader | undefined
  #start(isEnd: boolean): RowReader | undefined {
    // A header that is too long gets the same error as any other row.
    const isTooLong = this.window.length > this.scanner.itemBytes + LOOK_AHEAD_BYTES
    if (!this.#skipLines(isEnd) && !isTooLong) return undefined
    const rows = readFirstRows(this.#held, this.line)
    if (!rows[FIRST_ROWS - 1]?.isComplete && !isEnd && !isTooLong) return undefined
    const titles = adviceOnTitles(rows)
    return new RowReader(this.#options, delimiterOf(rows[0], this.#delimiter, titles), titles, this.line)
  }

  /** Drops the lines above the header. Returns false while some of them are yet to come. */
  #skipLines(isEnd: boolean): boolean {
    const { window } = this
    while (this.line === 1 || this.line <= this.#skip) {
      const held = this.#held
      if (this.line === 1 && new TextDecoder().decode(held.subarray(0, ZIP.length)) === ZIP)
        throw new InputError('this is a zip file, and no CSV; if it is a spreadsheet (.xlsx), save it as CSV')
      const end = held.findIndex(isLineBreak)
      // A carriage return at the very end may have its line feed yet to come.
      if (!isEnd && (end < 0 || (held[end] === CARRIAGE_RETURN && end + 1 === held.length))) return false
      const line = end < 0 ? held : held.subarray(0, end)
      const separator = this.line === 1 ? separatorIn(line) : undefined
      if (separator !== undefined) {
        this.#delimiter ??= separator
        this.#skip = Math.max(this.#skip, 1)
      }
      if (this.#skip === 0) return true
      const isPair = held[end] === CARRIAGE_RETURN && held[end + 1] === LINE_FEED
      window.start += line.length + (end < 0 ? 0 : isPair ? 2 : 1)
      this.line++
    }
    if (isEnd && window.length === 0 && this.#options.skip)
      throw new InputError(`nothing follows the first ${counted(this.#skip, 'line')}, which --skip leaves out`)
    return true
  }
}

class RowReader extends ItemReader {
  /** The offset of the window's start, in bytes of the whole input. The window begins where the last row ended. */
  #offset = 0
  readonly #encoder = new TextEncoder()
  readonly #rows: Row[] = []
  readonly #parser: Parser
  readonly #types: ColumnTypes | undefined
  readonly #keyField: string | null
  /** Appended to errors in the first rows. */
  readonly #advice: string
  /** The names, each as the beginning of a member: `"name":`. */
  #names: readonly string[] | undefined

  /** `line` is the number of the first line. */
  constructor(options: CsvOptions, delimiter: string, advice: string, line: number) {
    super(options)
    this.line = line
    this.#advice = advice
    this.#types = options.types
    this.#keyField = options.keyField ?? null
    this.#parser = parse({
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (values: string[], context) => {
        this.#rows.push({ values, end: context.bytes })
        // Nothing for the parser's own output, which nobody reads.
        return null
      },
    })
    // Every error also arrives at the write that caused it.
    this.#parser.on('error', () => {})
  }

  async *push(block: Uint8Array): AsyncIterable<InputBatch> {
    this.window.append(block)
    const error = await new Promise<Error | null | undefined>((resolve) => this.#parser.write(block, resolve))
    yield* this.#readRows()
    if (error) throw this.#notCsv(error)
    this.#skipBlankLines()
    // An item is never shorter than its row.
    if (this.window.length > this.scanner.itemBytes + LOOK_AHEAD_BYTES) throw this.#rowTooLong()
  }

  async *end(invalid?: InvalidText): AsyncIterable<InputBatch> {
    if (invalid !== undefined) throw invalidText(this.#rowPiece(this.window.length), invalid)
    const error = await finished(this.#parser.end(), { readable: false }).catch((error: Error) => error)
    yield* this.#readRows()
    if (error) throw this.#notCsv(error)
    if (this.batch.count > 0) yield this.batch.takeBatch()
  }

  *#readRows(): Iterable<InputBatch> {
    for (const row of this.#rows.splice(0)) {
      this.#skipBlankLines()
      const piece = this.#rowPiece(row.end - this.#offset)
      if (this.#names === undefined) this.#names = this.#begin(row.values, piece)
      else this.#addItem(row.values, this.#names, piece)
      this.line += countLineBreaks(piece)
      this.#moveOn(row.end - this.#offset)
      if (this.batch.isFull) yield this.batch.takeBatch()
    }
  }

  #begin(names: readonly string[], piece: Piece): string[] {
    const unnamed = names.findIndex((name) => name.trim() === '')
    if (unnamed >= 0)
      throw errorAt(`column ${unnamed + 1} of the header is empty; give it a name, or remove it${this.#advice}`, piece)
    const twice = names.find((name, index) => names.indexOf(name) < index)
    if (twice !== undefined) throw errorAt(`the header names the field ${JSON.stringify(twice)} twice`, piece)
    if (this.#types?.isKnown === false) this.#types.begin(names, this.#keyField)
    return names.map((name) => `${JSON.stringify(name)}:`)
  }

  #addItem(values: readonly string[], names: readonly string[], piece: Piece): void {
    if (values.length !== names.length) {
      if (values.length === 1 && values[0]?.trim() === '') return
      const fields = values.length === 1 ? '1 field' : `${values.length} fields`
      const advice = piece.line > FIRST_ROWS ? '' : this.#advice
      throw errorAt(`the row has ${fields}, the header has ${names.length}${advice}`, piece)
    }
    const types = this.#types
    if (types?.isKnown === false) {
      types.add(values)
      return
    }
    const members = values.map((value, index) => {
      const json = types === undefined ? JSON.stringify(value) : types.json(value, index)
      if (json === undefined) throw errorAt(`${JSON.stringify(value)} was not there when types were looked for`, piece)
      return names[index] + json
    })
    const bytes = this.#encoder.encode(`{${members.join(',')}}`)
    try {
      this.scanner.check(bytes, 0, bytes.length)
    } catch (error) {
      throw error instanceof ItemError ? errorAt(error.reason, piece) : error
    }
    this.batch.addAt(piece.line, bytes, 0, bytes.length)
  }

  #skipBlankLines(): void {
    const window = this.window
    for (;;) {
      const isPair = window.bytes[window.start] === CARRIAGE_RETURN && window.bytes[window.start + 1] === LINE_FEED
      const length = isPair ? 2 : 1
      const isBreak = isPair || isLineBreak(window.bytes[window.start])
      // A carriage return at the very end may have its line feed yet to come.
      if (!isBreak || window.length < 2) return
      this.#moveOn(length)
      this.line++
    }
  }

  #moveOn(length: number): void {
    this.window.start += length
    this.#offset += length
  }

  #rowTooLong(): InputError {
    const { reason } = this.scanner.tooLarge()
    return errorAt(`${reason}; or is a quote in this row never closed?`, this.#rowPiece(this.window.length))
  }

  #notCsv(error: Error): InputError {
    const reason = 'code' in error ? REASONS[String(error.code)] : undefined
    if (reason === undefined) throw error
    this.#skipBlankLines()
    return errorAt(reason, this.#rowPiece(this.window.length))
  }

  /** The first `length` bytes of the window. */
  #rowPiece(length: number): Piece {
    const { bytes, start } = this.window
    return { bytes, start, end: start + length, line: this.line }
  }
}

/** What the parser's errors mean, in words that help. */
const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote in the row that begins here is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'something follows the closing quote of a field; double a quote inside a quoted field',
  INVALID_OPENING_QUOTE:
    'a quote is in a field that does not begin with one; put the field in quotes and double the quote',
}

function countLineBreaks({ bytes, start, end }: Piece): number {
  let count = 0
  for (let i = start; i < end; i++)
    if (bytes[i] === LINE_FEED || (bytes[i] === CARRIAGE_RETURN && (i + 1 >= end || bytes[i + 1] !== LINE_FEED)))
      count++
  return count
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}
