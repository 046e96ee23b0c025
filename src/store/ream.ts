/** Items ⇄ the bytes of a ream: joined, deflated, cut, edited. Pure: no engine, no I/O. */

import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { freeOwnMemory } from '../items/item-run.ts'
import { type GoneMap, type Part, REAM_SIZE } from './positions.ts'
import type { Room, Segment } from './store.ts'
import { StoreError } from './store-error.ts'

/** The bytes of a ream and what must be known of them without inflating. */
export interface ReamBytes {
  /** The items that are still there. */
  readonly count: number
  readonly rawLength: number
  readonly crc: number
  /** Raw deflate, ended by a sync flush. */
  readonly data: Uint8Array
}

/** A ream as it is stored: with its number, and the map of what is gone of it. */
export interface SealedReam extends ReamBytes {
  readonly number: number
  readonly gone: GoneMap
}

/** An item behind the last full ream. */
export interface TailItem {
  readonly position: number
  /** The JSON text. */
  readonly item: string
}

const LINE_BREAK = 10

/** Level 2 takes about half the time of level 6, or less, for up to a third more bytes: an import is bound by this. */
const SEALED_LEVEL = 2
/** For bytes that are made for one answer and thrown away. */
const PASSING_LEVEL = 1

// zlib looks for the processor's own CRC-32 when it first deflates, and not when it inflates: without it, a check of what
// was inflated takes six times as long.
deflateRawSync('')

/** Large enough to lie outside Node's pool of small buffers, so that the bytes of a ream are in memory of their own. */
const MIN_CHUNK_BYTES = 64 * 1024

/** Deflates items. The bytes lie in memory that nothing else uses. */
export function encodeReam(raw: Uint8Array, count: number): ReamBytes {
  return { count, rawLength: raw.byteLength, crc: crc32(raw), data: deflate(raw, SEALED_LEVEL) }
}

function deflate(raw: Uint8Array, level: number): Buffer {
  const chunkSize = Math.max(MIN_CHUNK_BYTES, raw.byteLength)
  return deflateRawSync(raw, { level, chunkSize, finishFlush: constants.Z_SYNC_FLUSH })
}

/** Inflates a ream. Bytes that do not give its length and its checksum are damaged, and go nowhere. */
export function inflateReam(ream: ReamBytes): Buffer {
  if (ream.rawLength === 0) return Buffer.alloc(0)
  const raw = tryInflate(ream)
  if (raw?.byteLength !== ream.rawLength || crc32(raw) !== ream.crc) throw damagedReam()
  return raw
}

export function damagedReam(): StoreError {
  return new StoreError(
    'corrupt',
    'A ream of the store is damaged. `reams verify` says which one; restore the store from a backup.',
  )
}

function tryInflate(ream: ReamBytes): Buffer | undefined {
  try {
    // One byte of room more than needed lets zlib find the end without a second round.
    const chunkSize = Math.max(constants.Z_MIN_CHUNK, ream.rawLength + 1)
    const maxOutputLength = chunkSize
    return inflateRawSync(ream.data, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize, maxOutputLength })
  } catch {
    return undefined
  }
}

/** The end of a deflate stream: an empty stored block with the final bit. */
const FINAL_BLOCK = Uint8Array.of(1, 0, 0, 0xff, 0xff)

/** Whether the bytes can stand in the middle of a stream, as a gzip answer needs them: no final block, nothing left over. */
export function isSpliceable({ data }: ReamBytes): boolean {
  try {
    const whole = Buffer.concat([data, FINAL_BLOCK])
    // With `info` the types of Node do not tell what comes.
    const { engine } = inflateRawSync(whole, { info: true }) as unknown as { engine: { bytesWritten: number } }
    return engine.bytesWritten === whole.byteLength && Buffer.from(data.subarray(-4)).equals(SYNC_FLUSH)
  } catch {
    return false
  }
}

/** What a sync flush ends with, on a byte boundary. */
const SYNC_FLUSH = Uint8Array.of(0, 0, 0xff, 0xff)

/** A segment that lies deflated on disk. */
export function deflatedSegment(ream: ReamBytes, room = NO_ROOM): Segment {
  const { count, rawLength, crc, data } = ream
  return { count, isDeflated: true, rawLength, crc, room, raw: () => inflateReam(ream), deflated: () => data }
}

export const NO_ROOM: Room = { before: 0, after: 0 }

/** A segment that was put together from items. */
export function rawSegment(raw: Uint8Array, count: number, room = NO_ROOM): Segment {
  return {
    count,
    isDeflated: false,
    room,
    rawLength: raw.byteLength,
    // Only a gzip answer asks for it.
    get crc() {
      return crc32(raw)
    },
    raw: () => raw,
    deflated: () => deflate(raw, PASSING_LEVEL),
  }
}

/** The same items, with segments in a row that are yet to be deflated made one: once costs less than twice, and packs better. */
export function joinCuts(segments: Iterable<Segment>): Segment[] {
  const joined: Segment[] = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (last === undefined || last.isDeflated || segment.isDeflated) joined.push(segment)
    else {
      const pieces = [last.raw(), segment.raw()]
      joined.splice(-1, 1, rawSegment(joinPieces(pieces), last.count + segment.count))
      pieces.forEach(freeOwnMemory)
    }
  }
  return joined
}

/** The items of a segment that belong to a page. */
export function cutPart(segment: Segment, { count, from, take }: Part): Segment {
  if (take === count) return segment
  const raw = segment.raw()
  const cut = cutItems(raw, from, from + take)
  if (!segment.isDeflated) return rawSegment(cut, take)
  const kept = Buffer.allocUnsafeSlow(cut.byteLength)
  kept.set(cut)
  freeOwnMemory(raw)
  return rawSegment(kept, take)
}

/** The texts of the items in `raw`. No item holds a line break, so this cannot cut inside one. */
export function splitItems(raw: Uint8Array): string[] {
  if (raw.byteLength === 0) return []
  return asBuffer(raw).toString('utf8').split(ITEM_SEPARATOR)
}

export function joinItems(texts: readonly string[]): Buffer {
  return Buffer.from(texts.join(ITEM_SEPARATOR))
}

/** The items in `raw` with some of them, by their index, replaced by other texts or, by null, removed. */
export function editItems(raw: Uint8Array, edits: ReadonlyMap<number, string | null>): Buffer {
  const bytes = asBuffer(raw)
  const starts = itemStarts(bytes)
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

export function countItems(raw: Uint8Array): number {
  return itemStarts(asBuffer(raw)).length
}

function itemStarts(bytes: Buffer): number[] {
  const starts: number[] = []
  for (let at = 0; at < bytes.length; at = itemStart(bytes, at, 1)) starts.push(at)
  return starts
}

/** Items `from` up to but not including `to` of the items in `raw`, without their outer separators. */
export function cutItems(raw: Uint8Array, from: number, to: number): Uint8Array {
  const bytes = asBuffer(raw)
  const start = itemStart(bytes, 0, from)
  const following = itemStart(bytes, start, to - from)
  return bytes.subarray(start, following === bytes.length ? following : following - ITEM_SEPARATOR.length)
}

/** One item of a ream, in memory of its own: a client that is slow to take it must not hold all of the ream. */
export function itemAt(ream: ReamBytes, index: number): Buffer {
  return Buffer.from(cutItems(inflateReam(ream), index, index + 1))
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

/** Changes by position, as changes by slot for each ream. */
export function byReam<T>(changes: ReadonlyMap<number, T>): Map<number, Map<number, T>> {
  const reams = new Map<number, Map<number, T>>()
  for (const [position, change] of changes) {
    const number = Math.floor(position / REAM_SIZE)
    let slots = reams.get(number)
    if (slots === undefined) {
      slots = new Map()
      reams.set(number, slots)
    }
    slots.set(position % REAM_SIZE, change)
  }
  return reams
}

/** Collects runs of items and gives them back 500 at a time, whatever sizes they came in. */
export class ReamBuilder {
  #pieces: Uint8Array[] = []
  #count = 0
  #wanted: number

  /** The first ream can be a shorter one: the rest of one that was begun before. */
  constructor(firstWanted = REAM_SIZE) {
    this.#wanted = firstWanted
  }

  /** Adds `count` items and yields every ream that becomes full. */
  *add(text: Uint8Array, count: number): Generator<{ raw: Uint8Array; count: number }> {
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
  rest(): { raw: Uint8Array; count: number } {
    const whole = { raw: joinPieces(this.#pieces), count: this.#count }
    this.#pieces = []
    this.#count = 0
    this.#wanted = REAM_SIZE
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
