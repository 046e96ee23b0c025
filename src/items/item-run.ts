/** A run of items on their way into a store: checked, in order, and already in the form in which they will be served. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { shorten } from '../contract/message-text.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { ItemError, type ItemOptions, ItemScanner } from './item-scanner.ts'
import { type OwnedBytes, own } from './owned-bytes.ts'

export { ItemError, type ItemErrorKind, type ItemOptions } from './item-scanner.ts'

/** A run of large items ends before it has a page of them: a reader holds a run several times. */
const MAX_RUN_BYTES = 4 * 1024 * 1024

const SEPARATOR = new TextEncoder().encode(ITEM_SEPARATOR)
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

interface Run {
  /** How many items. */
  readonly count: number
  /** Their JSON texts in UTF-8, joined by ITEM_SEPARATOR. A line break stands nowhere else. */
  readonly text: Uint8Array
  /** The key of each item, in order; undefined for a collection without a key. */
  readonly keys: readonly string[] | undefined
}

/** Its text belongs to whoever takes the run, or, if not `isTransferred`, to whoever gives it. */
export type ItemRun =
  | (Run & { readonly isTransferred?: false })
  | (Run & { readonly text: OwnedBytes; readonly isTransferred: true })

/** A run whose text nobody else has: it may be given away. */
export type OwnRun = Run & { readonly text: OwnedBytes }

/** Checks JSON texts and joins them to a run. Throws an ItemError that says which one is wrong, and why. */
export function itemRun(texts: Iterable<string>, options: ItemOptions = {}): OwnRun {
  const all = [...texts]
  const scanner = new ItemScanner(options)
  const packer = new ItemPacker(scanner)
  const encoder = new TextEncoder()
  for (const [index, text] of all.entries()) {
    try {
      if (!text.isWellFormed())
        throw new ItemError('form', 'it contains a lone surrogate, which UTF-8 cannot express; write it as an escape')
      const bytes = encoder.encode(text)
      scanner.check(bytes, 0, bytes.length)
      packer.add(bytes, 0, bytes.length)
    } catch (error) {
      if (!(error instanceof ItemError)) throw error
      const message = `Item ${index + 1} of ${all.length}: ${error.reason}: \`${shorten(text)}\``
      throw new ItemError(error.kind, error.reason, error.offset, message)
    }
  }
  return packer.take()
}

/** Collects checked items into runs: their texts one after the other, in the form in which they will be served. */
export class ItemPacker {
  /** Items since the last `take`. */
  count = 0
  readonly #scanner: ItemScanner
  // A key may begin with U+FEFF, which is no byte-order mark there.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #text = new Uint8Array(0)
  #textLength = 0
  /** The keys, a NUL between two of them: no key holds one, and so all are decoded at once. */
  #keys = new Uint8Array(0)
  #keysLength = 0

  constructor(scanner: ItemScanner) {
    this.#scanner = scanner
  }

  /** Whether the items make a whole page, or are large enough together. */
  get isFull(): boolean {
    return this.count >= PAGE_SIZE || this.#textLength >= MAX_RUN_BYTES
  }

  /** Takes the item that the scanner checked last, blanks around it included. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const separator = SEPARATOR
    let at = this.#textLength
    if (at + separator.length + end - start > this.#text.length)
      this.#text = enlarged(this.#text, at, separator.length + end - start)
    const text = this.#text
    if (this.count > 0) for (let i = 0; i < separator.length; i++) text[at++] = separator[i] as number
    text.set(bytes.subarray(start, end), at)
    this.#textLength = at + end - start
    if (this.#scanner.hasLineBreak) this.#replaceLineBreaks(at)
    if (this.#scanner.keyField !== null) this.#addKey()
    this.count++
  }

  /** Hands out the items since the last time. */
  take(): OwnRun {
    const text = own(this.#text.slice(0, this.#textLength))
    const run = { count: this.count, text, keys: this.#takeKeys() }
    this.count = 0
    this.#textLength = 0
    return run
  }

  #addKey(): void {
    const { key, keyLength } = this.#scanner
    let at = this.#keysLength
    if (at + 1 + keyLength > this.#keys.length) this.#keys = enlarged(this.#keys, at, 1 + keyLength)
    const keys = this.#keys
    if (this.count > 0) keys[at++] = 0
    for (let i = 0; i < keyLength; i++) keys[at++] = key[i] as number
    this.#keysLength = at
  }

  #takeKeys(): string[] | undefined {
    if (this.#scanner.keyField === null) return undefined
    if (this.count === 0) return []
    const keys = this.#decoder.decode(this.#keys.subarray(0, this.#keysLength)).split('\0')
    this.#keysLength = 0
    return keys
  }

  #replaceLineBreaks(from: number): void {
    for (let i = from; i < this.#textLength; i++)
      if (this.#text[i] === LINE_FEED || this.#text[i] === CARRIAGE_RETURN) this.#text[i] = SPACE
  }
}

/** The first `length` bytes in a larger array, with room for `more`. */
function enlarged(bytes: Uint8Array, length: number, more: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * (length + more))
  larger.set(bytes.subarray(0, length))
  return larger
}
