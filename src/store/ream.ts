/**
 * Reams and their quires. A collection of 1,310 positions, four of them deleted (·):
 *
 *   position  0       125     250     375     500     625     750     875     1000    1125    1250    1310
 *   reams     [ quire | quire | quire | quire ][ quire | qu·re | quire | quire ][ quire | q··re ]
 *             '----------- ream 0 ------------''----------- ream 1 ------------''---- ream 2 ---'
 *   tail                                                                                       [ iii·iii ]
 *
 *   holes     level 0: in each ream            1 in ream 1, 3 in ream 2 (one of them in the tail)
 *             level 1: in each 256 reams       4 in block 0
 *             level 2: in each 65,536 reams    4 in block 0
 *   head      next = 1310, live = 1306, generation, version, commit id, …
 *
 * Positions are numbered from 0, in order of arrival, and never reused. A ream has 500 of them, which is a page. Its quires, of up to 125 slots,
 * are deflated apart. So a whole ream is sent as it is stored, and each quire is read, sent or changed without the others. Items after the
 * last full quire are the tail, a row each. A deleted item leaves a hole: a bit in the map of its ream, or no row in the tail. Rows
 * count holes in three levels, so that a page by number is found with three reads. Rows beyond `next` belong to a load that is not
 * finished: nobody sees them before it moves the head. Pure: no engine, no I/O.
 */

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { free, type OwnedBytes, own } from '../items/owned-bytes.ts'
import { Deflater, Inflater, roomFor } from '../items/raw-deflate.ts'
import { combineCrc, STORED_SEPARATOR } from '../items/splice.ts'
import { cutItems, itemStarts } from './item-text.ts'
import { type GoneMap, liveSlots, QUIRE_SIZE } from './positions.ts'
import { StoreError } from './store-error.ts'

/** Items in a row, deflated, and what must be known of them without inflating. */
export interface Deflated {
  /** How many items. */
  readonly count: number
  readonly rawLength: number
  readonly crc: number
  /** Raw deflate, ended by a flush: no final block, ends on a byte boundary, and refers to nothing before it. */
  readonly data: Uint8Array
}

/** The items of some slots in a row, deflated together. Slots may be gone. */
export interface Quire extends Deflated {
  readonly slots: number
}

/** The bytes of a ream: its quires, with a separator between two that have items. */
export interface ReamBytes extends Deflated {
  /** For each quire two numbers of 16 bits, its slots and items, and three of 32: its length, CRC-32, and length in `data`. */
  readonly quires: Uint8Array
}

/** A ream as it is stored: with its number, and the map of what is gone of it. */
export interface SealedReam extends ReamBytes {
  readonly number: number
  readonly gone: GoneMap
}

/** An item behind the last full quire. */
export interface TailItem {
  readonly position: number
  /** The JSON text. */
  readonly item: string
}

/** Level 2 takes half the time of level 6, for an eighth more bytes: an import is bound by this. */
const sealing = new Deflater(2)
const inflater = new Inflater()

const ENTRY_BYTES = 16
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)

// zlib looks for the processor's own CRC-32 when it first deflates, and not when it inflates: without it, a check of what
// was inflated takes six times as long.
deflateRawSync('')

/** In memory that Node shares out: memory of its own costs five times as much. */
export function briefCopy(bytes: Uint8Array): OwnedBytes<Buffer> {
  const copy = own(Buffer.allocUnsafe(bytes.byteLength))
  copy.set(bytes)
  return copy
}

/** Memory that is used again for what is looked at once, unless that is larger. */
const ROOM_BYTES = 64 * 1024
const roomToDeflate = Buffer.allocUnsafeSlow(ROOM_BYTES)
const roomToInflate = Buffer.allocUnsafeSlow(ROOM_BYTES)

function inRoom<T>(usual: Buffer, length: number, use: (room: Buffer) => T): T {
  if (length <= usual.byteLength) return use(usual)
  const room = own(Buffer.allocUnsafeSlow(length))
  const result = use(room)
  free(room)
  return result
}

function deflate(raw: Uint8Array, deflater: Deflater): Buffer {
  const length = roomFor(raw.byteLength)
  return inRoom(roomToDeflate, length, (room) => briefCopy(room.subarray(0, deflater.deflate(raw, room))))
}

/** As far as deflate looks back: larger quires would not get smaller. */
const QUIRE_BYTES = 32 * 1024
/** A quire that is changed may be changed again, and then less of it. */
const CHANGED_BYTES = 4 * 1024

/** What becomes a quire: no more than QUIRE_SIZE slots, and about as many bytes as it may have. `live` are the slots of the items. */
function* cutQuires(raw: Uint8Array, slots: number, live: readonly number[] | undefined, mostBytes: number) {
  const starts = itemStarts(raw)
  const enough = raw.byteLength / Math.max(1, Math.ceil(raw.byteLength / mostBytes))
  let [first, firstSlot] = [0, 0]
  for (let next = 1; next < starts.length; next++) {
    const [slot, start, end] = [live?.[next] ?? next, starts[first] ?? 0, starts[next] ?? 0]
    if (slot - firstSlot < QUIRE_SIZE && end - start < enough) continue
    yield { slots: slot - firstSlot, count: next - first, items: raw.subarray(start, end - SEPARATOR.length) }
    ;[first, firstSlot] = [next, slot]
  }
  yield { slots: slots - firstSlot, count: starts.length - first, items: raw.subarray(starts[first]) }
}

/** Quires of the items that are in the slots `live`, or in all; with `isChanged`, smaller ones. */
export function makeQuires(
  raw: Uint8Array,
  slots: number,
  live: readonly number[] | undefined,
  isChanged: boolean,
): Quire[] {
  const quires = cutQuires(raw, slots, live, isChanged ? CHANGED_BYTES : QUIRE_BYTES).map(
    ({ items, ...size }): Quire => ({
      ...size,
      rawLength: items.byteLength,
      crc: crc32(items),
      data: size.count === 0 ? new Uint8Array(0) : deflate(items, sealing),
    }),
  )
  const made = [...quires]
  if (made.reduce((sum, { count }) => sum + count, 0) !== (live?.length ?? slots)) throw damagedReam()
  return made
}

/** A ream of `count` items, with nothing gone, in `room`. */
export function encodeReam(
  raw: Uint8Array,
  count: number,
  room: Uint8Array = Buffer.allocUnsafeSlow(roomFor(raw.byteLength)),
): ReamBytes {
  let at = 0
  const quires: Quire[] = []
  for (const { items, ...size } of cutQuires(raw, count, undefined, QUIRE_BYTES)) {
    if (at > 0) room.set(STORED_SEPARATOR, at)
    const start = at === 0 ? 0 : at + STORED_SEPARATOR.length
    at = sealing.deflate(items, room, start)
    const data = room.subarray(start, at)
    quires.push({ ...size, rawLength: items.byteLength, crc: crc32(items), data })
  }
  const { data: _, ...whole } = joinDeflated(quires)
  return { ...whole, quires: tableOf(quires), data: room.subarray(0, at) }
}

/** A ream of these quires. */
export function joinQuires(all: readonly Quire[]): ReamBytes {
  const { data, ...whole } = joinDeflated(all)
  return { ...whole, quires: tableOf(all), data: concat(data) }
}

function tableOf(all: readonly Quire[]): Uint8Array {
  const quires = Buffer.alloc(ENTRY_BYTES * all.length)
  for (const [index, quire] of all.entries()) {
    const at = index * ENTRY_BYTES
    quires.writeUInt16LE(quire.slots, at)
    quires.writeUInt16LE(quire.count, at + 2)
    quires.writeUInt32LE(quire.rawLength, at + 4)
    quires.writeUInt32LE(quire.crc, at + 8)
    quires.writeUInt32LE(quire.data.byteLength, at + 12)
  }
  return quires
}

/** The same items in one, with pieces that are yet to be joined. */
export function joinDeflated(
  all: readonly Deflated[],
): Omit<Deflated, 'data'> & { readonly data: readonly Uint8Array[] } {
  const data: Uint8Array[] = []
  let [count, rawLength, crc] = [0, 0, 0]
  for (const piece of all) {
    if (piece.count === 0) continue
    if (data.length > 0) {
      data.push(STORED_SEPARATOR)
      rawLength += SEPARATOR.length
      crc = crc32(SEPARATOR, crc)
    }
    data.push(piece.data)
    crc = data.length === 1 ? piece.crc : combineCrc(crc, piece.crc, piece.rawLength)
    rawLength += piece.rawLength
    count += piece.count
  }
  return { count, rawLength, crc, data }
}

/** Outside Node's pool of small buffers, so that the bytes are in memory of their own. */
export function concat(pieces: readonly Uint8Array[]): OwnedBytes<Buffer> {
  const bytes = own(Buffer.allocUnsafeSlow(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

/** The quires of a ream, each as a part of its bytes. */
export function quiresOf({ quires, data, count }: ReamBytes): Quire[] {
  const table = Buffer.from(quires.buffer, quires.byteOffset, quires.byteLength)
  const all: Quire[] = []
  let [end, found] = [0, 0]
  for (let at = 0; at + ENTRY_BYTES <= table.length; at += ENTRY_BYTES) {
    const [slots, items] = [table.readUInt16LE(at), table.readUInt16LE(at + 2)]
    const start = end + (found > 0 && items > 0 ? STORED_SEPARATOR.length : 0)
    end = start + table.readUInt32LE(at + 12)
    found += items
    const [rawLength, crc] = [table.readUInt32LE(at + 4), table.readUInt32LE(at + 8)]
    all.push({ slots, count: items, rawLength, crc, data: data.subarray(start, end) })
  }
  if (table.length % ENTRY_BYTES !== 0 || found !== count || end !== data.byteLength) throw damagedReam()
  return all
}

/** Inflates items. Bytes that do not give their length and their checksum are damaged, and go nowhere. */
export function inflate(items: Deflated): OwnedBytes<Buffer> {
  if (items.rawLength === 0) return own(Buffer.alloc(0))
  return own(inflateTo(Buffer.allocUnsafeSlow(items.rawLength + 1), items))
}

/** Lets `read` look at the items, in memory that is used again afterwards. */
export function readInflated<T>(items: Deflated, read: (raw: Buffer) => T): T {
  return inRoom(roomToInflate, items.rawLength + 1, (room) => read(inflateTo(room, items)))
}

/** A byte of room more than needed tells whether there is more. */
function inflateTo(room: Buffer, items: Deflated): Buffer {
  const raw = room.subarray(0, inflater.inflate(items.data, room.subarray(0, items.rawLength + 1)) ?? 0)
  if (raw.byteLength !== items.rawLength || crc32(raw) !== items.crc) throw damagedReam()
  return raw
}

export function damagedReam(): StoreError {
  return new StoreError(
    'corrupt',
    'A ream of the store is damaged. `reams verify` says which one; restore the store from a backup.',
  )
}

/** The end of a deflate stream: an empty stored block with the final bit. */
const FINAL_BLOCK = Uint8Array.of(1, 0, 0, 0xff, 0xff)

/** Whether the bytes can stand in the middle of a stream, as a gzip answer needs them: no final block, nothing left over. */
export function isSpliceable({ data }: Deflated): boolean {
  try {
    const whole = Buffer.concat([data, FINAL_BLOCK])
    // With `info` the types of Node do not tell what comes.
    const { engine } = inflateRawSync(whole, { info: true }) as unknown as { engine: { bytesWritten: number } }
    return engine.bytesWritten === whole.byteLength && Buffer.from(data.subarray(-4)).equals(FLUSH)
  } catch {
    return false
  }
}

/** What a flush ends with, on a byte boundary. */
const FLUSH = Uint8Array.of(0, 0, 0xff, 0xff)

/** The item in a slot, in memory of its own: a client that is slow to take it must not hold all of its quire. */
export function itemAt({ gone, ...ream }: ReamBytes & { readonly gone: GoneMap }, slot: number): Buffer {
  const { quire, index } = placeOf(quiresOf(ream), gone, slot)
  return readInflated(quire, (raw) => concat([cutItems(raw, index, index + 1)]))
}

/** The quire that has the item of a slot, and the place of that item in it. */
export function placeOf<T extends { readonly slots: number; readonly count: number }>(
  quires: readonly T[],
  gone: GoneMap,
  slot: number,
): { readonly number: number; readonly quire: T; readonly index: number } {
  let start = 0
  for (const [number, quire] of quires.entries()) {
    const end = start + quire.slots
    if (slot < end) {
      const slots = liveSlots(gone, start, end)
      const index = slots.indexOf(slot)
      if (quire.count !== slots.length || index === -1) break
      return { number, quire, index }
    }
    start = end
  }
  throw damagedReam()
}
