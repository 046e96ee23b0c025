/** Reads NDJSON: a JSON object on every line, kept byte for byte. */

import { CARRIAGE_RETURN, errorAt, type InputError, invalidText, LINE_FEED, type Piece } from './input-error.ts'
import { type InputBatch, ItemReader } from './item-reader.ts'
import { ItemError, type ItemErrorKind, skipBlanks } from './item-scanner.ts'
import type { JsonOptions } from './json-array.ts'
import { arrayIn } from './json-outline.ts'
import type { InvalidText } from './utf8.ts'

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** `onItemsFound` is for input that may be something else: its only line can be an object with all items in an array. */
export class NdjsonReader extends ItemReader<JsonOptions> {
  *push(block: Uint8Array): Iterable<InputBatch> {
    const lastLineFeed = block.lastIndexOf(LINE_FEED)
    this.window.append(block)
    if (lastLineFeed >= 0) yield* this.#read(this.window.end - block.length + lastLineFeed + 1)
    // One byte more than an item may be the carriage return of its line's end.
    if (this.window.length > this.scanner.itemBytes + 1) throw this.#wrongLine(this.scanner.tooLarge())
  }

  *end(invalid?: InvalidText): Iterable<InputBatch> {
    if (invalid !== undefined) throw invalidText(this.piece(), invalid)
    if (this.window.length > 0) yield* this.push(Uint8Array.of(LINE_FEED))
    if (this.batch.count === 0) return
    const batch = this.batch.takeBatch()
    const { onItemsFound } = this.options
    const name = this.batch.total === 1 && onItemsFound !== undefined ? arrayIn(batch.run.text) : undefined
    if (name !== undefined) onItemsFound?.(name)
    yield batch
  }

  /** Reads the lines up to `end`, the offset after a line feed. */
  *#read(end: number): Iterable<InputBatch> {
    while (this.window.start < end) {
      this.#fillBatch(end)
      if (this.batch.isFull) yield this.batch.takeBatch()
    }
  }

  #fillBatch(end: number): void {
    const window = this.window
    try {
      while (window.start < end && !this.batch.isFull) {
        window.start = this.#readObject(window.bytes, window.start, end) || this.#readLine(window.bytes, window.start)
        this.line++
      }
    } catch (error) {
      throw error instanceof ItemError ? this.#wrongLine(error) : error
    }
  }

  /**
   * Reads a line that is an object and nothing else, which is the most common one, without looking for the line's end first.
   * Answers where the next line begins, or 0 if this one has to be looked at more closely.
   */
  #readObject(bytes: Uint8Array, start: number, end: number): number {
    if (bytes[start] !== OPEN_OBJECT) return 0
    const after = this.scanner.find(bytes, start, end)
    if (after < 0 || this.scanner.hasLineBreak || after - start > this.scanner.itemBytes) return 0
    const lineFeed = bytes[after] === CARRIAGE_RETURN ? after + 1 : after
    if (bytes[lineFeed] !== LINE_FEED) return 0
    this.scanner.readKey(bytes)
    this.batch.addAt(this.line, bytes, start, after)
    return lineFeed + 1
  }

  /** Reads any line and answers where the next one begins. */
  #readLine(bytes: Uint8Array, start: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, start)
    const lineEnd = lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
    const isBlank = skipBlanks(bytes, start, lineEnd) === lineEnd
    if (!isBlank || lineEnd - start > this.scanner.itemBytes) {
      this.scanner.check(bytes, start, lineEnd)
      this.batch.addAt(this.line, bytes, start, lineEnd)
    }
    return lineFeed + 1
  }

  /** The error about the line at the window's start. */
  #wrongLine(error: ItemError): InputError {
    const piece = this.piece()
    const at = piece.start + error.offset
    return errorAt(error.reason + this.#advice(error.kind, piece, at), piece, at, error)
  }

  #advice(kind: ItemErrorKind, { bytes, start, end }: Piece, at: number): string {
    const isGuess = this.options.onItemsFound !== undefined && this.batch.total === 0
    if (kind === 'size' && isGuess) return '; if this line holds all items, use --format json'
    if (kind !== 'form') return ''
    const rule = 'every line must be one complete JSON object'
    if (this.batch.total > 0) return `; ${rule}`
    const first = bytes[skipBlanks(bytes, start, end)]
    if (first === OPEN_ARRAY) return '; for a file that is one JSON array use --format json'
    const isBrokenOff =
      first === OPEN_OBJECT && at > start && (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN)
    return isBrokenOff ? `; ${rule}; for JSON over several lines use --format json` : `; ${rule}`
  }
}
