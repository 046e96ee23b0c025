/** Items as one text, joined as they are served: cut, edited, counted, collected. Pure. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'

const LINE_BREAK = 10

/** Some items in a row: their JSON texts, joined by ITEM_SEPARATOR. */
export interface RawItems {
  readonly raw: Uint8Array
  readonly count: number
}

export const NO_ITEMS: RawItems = { raw: new Uint8Array(0), count: 0 }

/** The texts of the items in `raw`. No item holds a line break, so this cannot cut inside one. */
export function splitItems(raw: Uint8Array): string[] {
  if (raw.byteLength === 0) return []
  return asBuffer(raw).toString('utf8').split(ITEM_SEPARATOR)
}

export function joinItems(texts: readonly string[]): Buffer {
  return Buffer.from(texts.join(ITEM_SEPARATOR))
}

/** The items in `raw` with some of them, by their index, replaced by other texts or, by null, removed. */
export function editItems(
  raw: Uint8Array,
  edits: ReadonlyMap<number, string | null>,
  starts: readonly number[] = itemStarts(raw),
): Buffer {
  const bytes = asBuffer(raw)
  const pieces: Uint8Array[] = []
  let at = 0
  for (const [index, text] of [...edits].sort(([a], [b]) => a - b)) {
    pieces.push(bytes.subarray(at, starts[index]))
    if (text !== null) pieces.push(Buffer.from(text + ITEM_SEPARATOR))
    at = starts[index + 1] ?? bytes.length
  }
  const edited = Buffer.concat([...pieces, bytes.subarray(at)])
  // No item ends with a line break: where one stands at the end, the item after it was the last, and is gone.
  return edited.at(-1) === LINE_BREAK ? edited.subarray(0, -ITEM_SEPARATOR.length) : edited
}

/** Where each of the items begins. */
export function itemStarts(raw: Uint8Array): number[] {
  const bytes = asBuffer(raw)
  const starts: number[] = []
  for (let at = 0; at < bytes.length; ) {
    starts.push(at)
    const lineBreak = bytes.indexOf(LINE_BREAK, at)
    at = lineBreak === -1 ? bytes.length : lineBreak + 1
  }
  return starts
}

/** The items `from` up to `to` of `raw`, where `starts` are the offsets of all of them. Shares the memory of `raw`. */
export function itemRange(raw: Uint8Array, starts: readonly number[], from: number, to: number): Uint8Array {
  const following = starts[to]
  return raw.subarray(starts[from], following === undefined ? raw.byteLength : following - ITEM_SEPARATOR.length)
}

/** The text of one item of `raw`, where `starts` are the offsets of all of them. */
export function itemText(raw: Uint8Array, starts: readonly number[], index: number): string {
  return asBuffer(itemRange(raw, starts, index, index + 1)).toString('utf8')
}

/** Items `from` up to but not including `to`, or all behind it, of the items in `raw`, without their outer separators. */
export function cutItems(raw: Uint8Array, from: number, to?: number): Uint8Array {
  const bytes = asBuffer(raw)
  const start = itemStart(bytes, 0, from)
  if (to === undefined) return bytes.subarray(start)
  const following = itemStart(bytes, start, to - from)
  return bytes.subarray(start, following === bytes.length ? following : following - ITEM_SEPARATOR.length)
}

/** Where the item `skip` items after the one at `start` begins, or the end of the bytes. */
function itemStart(bytes: Buffer, start: number, skip: number): number {
  let at = start
  for (let skipped = 0; skipped < skip; skipped++) {
    const lineBreak = bytes.indexOf(LINE_BREAK, at)
    if (lineBreak === -1) return bytes.length
    at = lineBreak + 1
  }
  return at
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Collects runs of items and gives them back a fixed number at a time, whatever sizes they came in. */
export class ItemCollector {
  readonly #size: number
  #pieces: Uint8Array[] = []
  #count = 0
  #wanted: number

  /** The first batch can be a shorter one: the rest of one that was begun before. */
  constructor(size: number, firstWanted = size) {
    this.#size = size
    this.#wanted = firstWanted
  }

  /** Adds `count` items and yields every batch that becomes full. */
  *add(text: Uint8Array, count: number): Generator<RawItems> {
    let rest = text
    for (let left = count; left > 0; ) {
      const take = Math.min(this.#wanted - this.#count, left)
      const piece = take === left ? rest : cutItems(rest, 0, take)
      rest = rest.subarray(piece.byteLength + ITEM_SEPARATOR.length)
      left -= take
      this.#pieces.push(piece)
      this.#count += take
      if (this.#count === this.#wanted) yield this.rest()
    }
  }

  /** What is left, and begins anew. */
  rest(): RawItems {
    const whole = { raw: joinPieces(this.#pieces), count: this.#count }
    this.#pieces = []
    this.#count = 0
    this.#wanted = this.#size
    return whole
  }
}

/** Joins runs of items into one. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = pieces.filter((piece) => piece.byteLength > 0)
  if (first === undefined) return new Uint8Array(0)
  if (others.length === 0) return first
  const separator = Buffer.from(ITEM_SEPARATOR)
  return Buffer.concat([first, ...others.flatMap((piece) => [separator, piece])])
}
