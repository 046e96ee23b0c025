/**
 * The body of a page, plain or gzip: the envelope around the items, which are used as the store returns them. A gzip body is
 * spliced from pieces that are already deflated: nothing is compressed here, only copied.
 */

import { crc32 } from 'node:zlib'
import { ENVELOPE_TAIL, ITEM_SEPARATOR } from '../../contract/envelope.ts'
import type { TagEncoding } from '../../contract/etag.ts'
import { type OwnedBytes, own } from '../../items/owned-bytes.ts'
import { responseFingerprint } from '../../items/raw-deflate.ts'
import { combineCrc, putStored, STORED_SEPARATOR, storedLength } from '../../items/splice.ts'
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
  /** The encoding as entity tags name it. */
  readonly tagEncoding: TagEncoding
  /** The form of the segments that it is made from. */
  readonly stored: SegmentForm
  readonly itemsOf: (segments: readonly Segment[]) => PageItems
  /** With HEAD_ROOM before it. */
  readonly bodyOf: (envelopeHead: Uint8Array, items: PageItems) => OwnedBytes<Buffer>
  /** Bytes of the body after the items. */
  readonly tailBytes: number
}

/** Before every body so much memory is free: enough for the head of most responses. */
export const HEAD_ROOM = 1_024

/** Enough for most envelopes. Where it is not, the items are copied. */
export const USUAL_ROOM: Room = { before: HEAD_ROOM + 1_024, after: 32 }

/** At the end of a gzip file: the CRC-32 and the length of the text. */
const TRAILER_BYTES = 8

const FILE_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255) // deflate, no flags, no time, unknown system
const TAIL = Buffer.from(ENVELOPE_TAIL)
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)

export const PAGE_FORMS: Readonly<Record<Encoding, PageForm>> = {
  identity: {
    tagEncoding: 'identity',
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
    tagEncoding: `gzip-${responseFingerprint()}`,
    stored: 'deflated',
    itemsOf: joinDeflated,
    bodyOf: (envelopeHead, items) => spliceGzip(envelopeHead, items, TAIL),
    tailBytes: storedLength(TAIL) + TRAILER_BYTES,
  },
}

/** A body with the items in place, and so many bytes before and after them still to be written. */
function bodyAround({ pieces, room }: PageItems, before: number, after: number): OwnedBytes<Buffer> {
  const [first] = pieces
  if (first !== undefined && room !== undefined && room.before >= HEAD_ROOM + before && room.after >= after)
    return own(Buffer.from(first.buffer, first.byteOffset - before, before + first.length + after))
  const body = own(Buffer.allocUnsafeSlow(HEAD_ROOM + before + lengthOf(pieces) + after).subarray(HEAD_ROOM))
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
    crc = pieces.length === 1 ? segment.crc : combineCrc(crc, segment.crc, segment.rawLength)
    length += segment.rawLength
  }
  return { pieces, length, crc, room: pieces.length === 1 ? segments[0]?.room : undefined }
}

/** The gzip of head, items and tail. */
export function spliceGzip(head: Uint8Array, items: PageItems, tail: Uint8Array): OwnedBytes<Buffer> {
  const after = storedLength(tail) + TRAILER_BYTES
  const gzip = bodyAround(items, FILE_HEADER.length + storedLength(head), after)
  gzip.set(FILE_HEADER)
  putStored(gzip, FILE_HEADER.length, head)
  let at = putStored(gzip, gzip.length - after, tail, true)
  at = gzip.writeUInt32LE(crc32(tail, combineCrc(crc32(head), items.crc, items.length)), at)
  gzip.writeUInt32LE((head.length + items.length + tail.length) % 2 ** 32, at)
  return gzip
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let sum = 0
  for (const piece of pieces) sum += piece.length
  return sum
}
