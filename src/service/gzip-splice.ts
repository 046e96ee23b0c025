/** A gzip file put together from pieces that are deflated already: nothing is compressed here, only copied. */

import { crc32 } from 'node:zlib'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Segment } from '../store/store.ts'
import { createCrc32Combine } from './crc32-combine.ts'

/** The longest text of one stored deflate block: its length has 16 bits. */
const STORED_BYTES = 65_535

export type GzipSplice = (head: Uint8Array, segments: readonly Segment[], tail: Uint8Array) => Buffer<ArrayBuffer>

/** Answers a function that makes the gzip of head, the segments joined by ITEM_SEPARATOR, and tail. */
export function createGzipSplice(): GzipSplice {
  const combine = createCrc32Combine()
  const separator = Buffer.from(ITEM_SEPARATOR)
  const fileHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255) // deflate, no flags, no time, unknown system

  return (head, segments, tail) => {
    const pieces: Uint8Array[] = [fileHeader]
    let crc = 0
    let length = 0

    function addStored(text: Uint8Array, isEnd = false): void {
      pieces.push(...storedBlocks(text, isEnd))
      crc = crc32(text, crc)
      length += text.length
    }

    function addDeflated(segment: Segment): void {
      pieces.push(segment.deflated())
      crc = combine(crc, segment.crc, segment.rawLength)
      length += segment.rawLength
    }

    addStored(head)
    for (const [index, segment] of segments.entries()) {
      if (index > 0) addStored(separator)
      addDeflated(segment)
    }
    addStored(tail, true)

    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(crc, 0)
    trailer.writeUInt32LE(length % 2 ** 32, 4)
    pieces.push(trailer)
    return Buffer.concat(pieces)
  }
}

/** A text as uncompressed deflate blocks, at least one; the last of them ends the stream if `isEnd`. */
function* storedBlocks(text: Uint8Array, isEnd: boolean): Generator<Uint8Array> {
  let start = 0
  do {
    const block = text.subarray(start, start + STORED_BYTES)
    start += block.length
    const isFinal = isEnd && start === text.length
    const length = Buffer.alloc(5)
    length.writeUInt8(isFinal ? 1 : 0, 0)
    length.writeUInt16LE(block.length, 1)
    length.writeUInt16LE(block.length ^ 0xffff, 3)
    yield length
    yield block
  } while (start < text.length)
}
