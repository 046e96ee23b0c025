/** A gzip file put together from pieces that are deflated already: nothing is compressed here, only copied. */

import { crc32 } from 'node:zlib'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Segment } from '../store/store.ts'
import { createCrc32Combine } from './crc32-combine.ts'
import { bodyAround, type PageItems } from './page-items.ts'

/** The longest text of one stored deflate block: its length has 16 bits. */
const STORED_BYTES = 65_535
/** Before the text: what kind of block, how long it is, and the same with all bits turned. */
const BLOCK_HEADER_BYTES = 5
/** At the end of a gzip file: the CRC-32 and the length of the text. */
export const TRAILER_BYTES = 8

const FILE_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255) // deflate, no flags, no time, unknown system
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
const STORED_SEPARATOR = stored(SEPARATOR)
const combine = createCrc32Combine()

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

/** How long a text is as stored blocks. */
export function storedLength({ length }: Uint8Array): number {
  return length + BLOCK_HEADER_BYTES * Math.max(1, Math.ceil(length / STORED_BYTES))
}

/** Writes a text as uncompressed deflate blocks, at least one, and tells where they end. With `isEnd` the stream ends there. */
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
