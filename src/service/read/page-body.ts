/**
 * The body of a page, plain or gzip: the envelope around the items, which are used as the store returns them. A gzip body is
 * spliced from pieces that are already deflated: nothing is compressed here, only copied.
 */

import { crc32 } from 'node:zlib'
import { ENVELOPE_TAIL, ITEM_SEPARATOR } from '../../contract/envelope.ts'
import type { Room, Segment, SegmentForm } from '../../store/store.ts'
import type { Encoding } from '../negotiate.ts'

/** The items of a page as they stand in its body. */
export interface PageItems {
  /** Plain, or parts of a deflate stream that end on a byte boundary, without its end marker. */
  readonly pieces: readonly Uint8Array[]
  /** Length and CRC-32 of the plain text; the CRC only matters for gzip. */
  readonly length: number
  readonly crc: number
  /** Free memory around a single piece. It can be used once. */
  readonly room?: Room | undefined
}

interface PageForm {
  /** The form of the segments that it is made from. */
  readonly stored: SegmentForm
  readonly itemsOf: (segments: readonly Segment[]) => PageItems
  readonly bodyOf: (envelopeHead: Uint8Array, items: PageItems) => Buffer
  /** Bytes of the body after the items. */
  readonly tailBytes: number
}

/** Enough for most envelopes. Where it is not, the items are copied. */
export const USUAL_ROOM: Room = { before: 1_024, after: 32 }

/** The longest text of one stored deflate block: its length has 16 bits. */
const STORED_BYTES = 65_535
/** Before the text: the kind of block, its length, and the length with all bits inverted. */
const BLOCK_HEADER_BYTES = 5
/** At the end of a gzip file: the CRC-32 and the length of the text. */
const TRAILER_BYTES = 8

const FILE_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255) // deflate, no flags, no time, unknown system
const TAIL = Buffer.from(ENVELOPE_TAIL)
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
const STORED_SEPARATOR = stored(SEPARATOR)

export const PAGE_FORMS: Readonly<Record<Encoding, PageForm>> = {
  identity: {
    stored: 'raw',
    itemsOf(segments) {
      const pieces = segments.flatMap((segment, index) => (index > 0 ? [SEPARATOR, segment.raw()] : [segment.raw()]))
      return { pieces, length: lengthOf(pieces), crc: 0, room: pieces.length === 1 ? segments[0]?.room : undefined }
    },
    bodyOf(envelopeHead, items) {
      const body = bodyAround(items, envelopeHead.length, TAIL.length)
      body.set(envelopeHead)
      body.set(TAIL, body.length - TAIL.length)
      return body
    },
    tailBytes: TAIL.length,
  },
  gzip: {
    stored: 'deflated',
    itemsOf: joinDeflated,
    bodyOf: (envelopeHead, items) => spliceGzip(envelopeHead, items, TAIL),
    tailBytes: storedLength(TAIL) + TRAILER_BYTES,
  },
}

/** A body with the items in place, and so many bytes before and after them still to be written. */
function bodyAround({ pieces, room }: PageItems, before: number, after: number): Buffer {
  const [first] = pieces
  if (first !== undefined && room !== undefined && room.before >= before && room.after >= after)
    return Buffer.from(first.buffer, first.byteOffset - before, before + first.length + after)
  const body = Buffer.allocUnsafeSlow(before + lengthOf(pieces) + after)
  let at = before
  for (const piece of pieces) {
    body.set(piece, at)
    at += piece.length
  }
  return body
}

/** The same items as a part of the body, so that they are in memory once. */
export function itemsIn(body: Buffer, { pieces, length, crc }: PageItems, after: number): PageItems {
  const end = body.length - after
  return { pieces: [body.subarray(end - lengthOf(pieces), end)], length, crc }
}

/** The segments joined by ITEM_SEPARATOR. */
export function joinDeflated(segments: readonly Segment[]): PageItems {
  const pieces: Uint8Array[] = []
  let crc = 0
  let length = 0
  for (const segment of segments) {
    if (pieces.length > 0) {
      pieces.push(STORED_SEPARATOR)
      crc = crc32(SEPARATOR, crc)
      length += SEPARATOR.length
    }
    pieces.push(segment.deflated())
    crc = pieces.length === 1 ? segment.crc : combine(crc, segment.crc, segment.rawLength)
    length += segment.rawLength
  }
  return { pieces, length, crc, room: pieces.length === 1 ? segments[0]?.room : undefined }
}

/** The gzip of head, items and tail. */
export function spliceGzip(head: Uint8Array, items: PageItems, tail: Uint8Array): Buffer {
  const after = storedLength(tail) + TRAILER_BYTES
  const gzip = bodyAround(items, FILE_HEADER.length + storedLength(head), after)
  gzip.set(FILE_HEADER)
  putStored(gzip, FILE_HEADER.length, head)
  let at = putStored(gzip, gzip.length - after, tail, true)
  at = gzip.writeUInt32LE(crc32(tail, combine(crc32(head), items.crc, items.length)), at)
  gzip.writeUInt32LE((head.length + items.length + tail.length) % 2 ** 32, at)
  return gzip
}

function stored(text: Uint8Array): Buffer {
  const blocks = Buffer.alloc(storedLength(text))
  putStored(blocks, 0, text)
  return blocks
}

/** The length of a text as stored blocks. */
function storedLength({ length }: Uint8Array): number {
  return length + BLOCK_HEADER_BYTES * Math.max(1, Math.ceil(length / STORED_BYTES))
}

/** Writes a text as uncompressed deflate blocks, at least one, and returns where they end. With `isEnd` the stream ends there. */
function putStored(gzip: Buffer, start: number, text: Uint8Array, isEnd = false): number {
  let at = start
  let from = 0
  do {
    const to = Math.min(from + STORED_BYTES, text.length)
    at = gzip.writeUInt8(isEnd && to === text.length ? 1 : 0, at)
    at = gzip.writeUInt16LE(to - from, at)
    at = gzip.writeUInt16LE((to - from) ^ 0xffff, at)
    gzip.set(text.length <= STORED_BYTES ? text : text.subarray(from, to), at)
    at += to - from
    from = to
  } while (from < text.length)
  return at
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let sum = 0
  for (const piece of pieces) sum += piece.length
  return sum
}

/**
 * A CRC-32 is a polynomial over GF(2) modulo this one. Bits run backwards: the top bit is x⁰, and a shift to the right
 * multiplies by x.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000
const X = 0x40000000
/** As many as the largest length that a number holds exactly. */
const LENGTH_BYTES = 7

/**
 * The CRC-32 of two texts in a row, from the CRC of each and the length of the second: appending so many zero bytes multiplies
 * a CRC by x to the power 8·length.
 */
export function combine(crcOfFirst: number, crcOfSecond: number, lengthOfSecond: number): number {
  let product = crcOfFirst
  for (let rest = lengthOfSecond, k = 0; rest > 0; rest = Math.floor(rest / 256), k++) {
    const byte = rest % 256
    if (byte > 0) product = multiply(product, POWERS[k]?.[byte] ?? ONE)
  }
  return (product ^ crcOfSecond) >>> 0
}

/** The powers 0 to 255. */
function powersOf(unit: number): Uint32Array {
  const powers = new Uint32Array(256)
  for (let product = ONE, b = 0; b < powers.length; product = multiply(product, unit), b++) powers[b] = product
  return powers
}

/** By squaring: the exponent is a power of 2. */
function power(base: number, exponent: number): number {
  let product = base
  for (let reached = 1; reached < exponent; reached *= 2) product = multiply(product, product)
  return product
}

/** The product of two polynomials modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let rest = a, term = b; rest !== 0; rest <<= 1) {
    if (rest & ONE) product ^= term
    term = term & 1 ? (term >>> 1) ^ POLYNOMIAL : term >>> 1
  }
  return product >>> 0
}

/** POWERS[k][b] is x to the power 8·b·256^k: as many zero bytes as the byte b says at place k of a length. */
const POWERS: Uint32Array[] = []
for (let unit = power(X, 8); POWERS.length < LENGTH_BYTES; unit = power(unit, 256)) POWERS.push(powersOf(unit))
