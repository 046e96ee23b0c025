/** A gzip file put together from pieces that are deflated already: nothing is compressed here, only copied. */

import { crc32 } from 'node:zlib'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Segment } from '../store/store.ts'
import { createCrc32Combine } from './crc32-combine.ts'

/** The longest text of one stored deflate block: its length has 16 bits. */
const STORED_BYTES = 65_535

const FILE_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255) // deflate, no flags, no time, unknown system
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
const combine = createCrc32Combine()

/** Part of a deflate stream that ends on a byte boundary and says nothing of its end. */
export interface Deflated {
  readonly pieces: readonly Uint8Array[]
  /** Of the text. */
  readonly length: number
  readonly crc: number
}

/** The segments joined by ITEM_SEPARATOR. */
export function joinDeflated(segments: readonly Segment[]): Deflated {
  const pieces: Uint8Array[] = []
  let crc = 0
  let length = 0
  for (const [index, segment] of segments.entries()) {
    if (index > 0) {
      pieces.push(...storedBlocks(SEPARATOR))
      crc = crc32(SEPARATOR, crc)
      length += SEPARATOR.length
    }
    pieces.push(segment.deflated())
    crc = combine(crc, segment.crc, segment.rawLength)
    length += segment.rawLength
  }
  return { pieces, length, crc }
}

/** The gzip of head, items and tail. */
export function spliceGzip(head: Uint8Array, items: Deflated, tail: Uint8Array): Buffer<ArrayBuffer> {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(tail, combine(crc32(head), items.crc, items.length)), 0)
  trailer.writeUInt32LE((head.length + items.length + tail.length) % 2 ** 32, 4)
  return Buffer.concat([FILE_HEADER, ...storedBlocks(head), ...items.pieces, ...storedBlocks(tail, true), trailer])
}

/** A text as uncompressed deflate blocks, at least one; the last of them ends the stream if `isEnd`. */
function storedBlocks(text: Uint8Array, isEnd = false): Uint8Array[] {
  const blocks: Uint8Array[] = []
  let start = 0
  do {
    const block = text.subarray(start, start + STORED_BYTES)
    start += block.length
    const isFinal = isEnd && start === text.length
    blocks.push(Uint8Array.of(isFinal ? 1 : 0, ...bytesOf(block.length), ...bytesOf(block.length ^ 0xffff)), block)
  } while (start < text.length)
  return blocks
}

/** Two bytes, the lower one first. */
function bytesOf(number: number): readonly [number, number] {
  return [number & 0xff, number >> 8]
}
