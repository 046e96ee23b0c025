/** Reads one JSON array of objects as a stream: never more of it is held than an item may have. */

import { countLineFeeds, errorAt, type InputError, invalidUtf8 } from './input-error.ts'
import { type InputBatch, ItemReader } from './item-reader.ts'
import { ItemError, kindOf, skipBlanks } from './item-scanner.ts'

const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b

/** What the array's grammar allows next. */
type Expected = 'opening bracket' | 'first item' | 'item' | 'comma' | 'nothing'

export class JsonArrayReader extends ItemReader {
  #expected: Expected = 'opening bracket'
  /** An item that was not whole is scanned again when this many bytes of it are there. */
  #enoughBytes = 0;

  *push(block: Uint8Array): Iterable<InputBatch> {
    this.window.append(block)
    yield* this.#read()
  }

  *end(invalid?: Uint8Array): Iterable<InputBatch> {
    this.#enoughBytes = 0
    yield* this.#read()
    if (invalid !== undefined) throw invalidUtf8(this.piece(), invalid)
    if (this.window.length > 0) throw this.#wrongItem(this.scanner.fault(this.window.bytes, this.window.start))
    if (this.#expected !== 'nothing' && this.#expected !== 'opening bracket')
      throw this.#wrong('it is truncated: the closing ] of the array is missing')
    if (this.batch.count > 0) yield this.batch.takeBatch()
  }

  *#read(): Iterable<InputBatch> {
    while (this.#readToken()) if (this.batch.isFull) yield this.batch.takeBatch()
  }

  /** Reads a bracket, a comma or an item; false when there are not bytes enough for one. */
  #readToken(): boolean {
    const window = this.window
    const token = skipBlanks(window.bytes, window.start, window.end)
    this.line += countLineFeeds(window.bytes, window.start, token)
    window.start = token
    if (window.length === 0) return false
    const expected = this.#expected
    const byte = window.bytes[token] as number
    if (expected === 'item' || (expected === 'first item' && byte !== CLOSE_ARRAY)) return this.#readItem(byte)
    this.#expected = this.#afterPunctuation(expected, byte)
    window.start++
    return true
  }

  #afterPunctuation(expected: Expected, byte: number): Expected {
    if (expected === 'opening bracket') {
      if (byte === OPEN_ARRAY) return 'first item'
      throw this.#wrong(byte === OPEN_OBJECT ? AN_OBJECT : 'the file must be one JSON array of objects')
    }
    if (expected === 'nothing') throw this.#wrong('something follows the closing ] of the array')
    if (byte === CLOSE_ARRAY) return 'nothing'
    if (byte === COMMA) return 'item'
    throw this.#wrong('a comma or the closing ] of the array is missing before this')
  }

  /** Reads an item, which must begin at the window's start with the byte `first`. */
  #readItem(first: number): boolean {
    const { bytes, start, end, length } = this.window
    const { itemBytes } = this.scanner
    if (first !== OPEN_OBJECT) throw this.#notAnItem(first)
    if (length <= itemBytes && length < this.#enoughBytes) return false
    const after = this.scanner.find(bytes, start, Math.min(end, start + itemBytes))
    if (after < 0) {
      if (!this.scanner.isCutOff) throw this.#wrongItem(this.scanner.fault(bytes, start))
      if (length > itemBytes) throw this.#wrongItem(this.scanner.tooLarge())
      // Twice as many, so that the bytes of an item in small blocks are scanned about twice, not once a block.
      this.#enoughBytes = 2 * length
      return false
    }
    this.#enoughBytes = 0
    this.#addItem(after)
    return true
  }

  #addItem(after: number): void {
    const window = this.window
    try {
      this.scanner.readKey(window.bytes)
    } catch (error) {
      throw error instanceof ItemError ? this.#wrongItem(error, after) : error
    }
    this.batch.addAt(this.line, window.bytes, window.start, after)
    if (this.scanner.hasLineBreak) this.line += countLineFeeds(window.bytes, window.start, after)
    window.start = after
    this.#expected = 'comma'
  }

  #notAnItem(first: number): InputError {
    const { bytes, start } = this.window
    if (first === CLOSE_ARRAY) return this.#wrong('an item is missing between the last comma and the closing ]')
    if (first === COMMA) return this.#wrong('an item is missing before this comma')
    const isValue = /["[\dtfn-]/.test(String.fromCharCode(first))
    return this.#wrong(isValue ? `it is ${kindOf(bytes, start)}, not an object` : 'expected an object here')
  }

  /** `end` is where the item ends, if that is known. */
  #wrongItem(error: ItemError, end = this.window.end): InputError {
    return errorAt(error.reason, { ...this.piece(), end }, this.window.start + error.offset, error)
  }

  #wrong(reason: string): InputError {
    return errorAt(reason, this.piece())
  }
}

const AN_OBJECT = 'the file begins with an object, not with an array; for one object per line use --format ndjson'
