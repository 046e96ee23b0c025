/** The items of a page as they stand in its body, and the memory that the body is made in. */

import type { Room } from '../store/store.ts'

export interface PageItems {
  /** Plain, or parts of a deflate stream that end on a byte boundary and say nothing of its end. */
  readonly pieces: readonly Uint8Array[]
  /** Length and CRC-32 of the text; of plain items nobody asks for the CRC. */
  readonly length: number
  readonly crc: number
  /** Around a single piece; whoever fills it has used it up. */
  readonly room?: Room | undefined
}

/** A body with the items in their place, and so many bytes before and behind them yet to be written. */
export function bodyAround({ pieces, room }: PageItems, before: number, after: number): Buffer {
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

/** The same items, as a part of the body that they were put into: so they are in memory once. */
export function itemsIn(body: Buffer, { pieces, length, crc }: PageItems, after: number): PageItems {
  const end = body.length - after
  return { pieces: [body.subarray(end - lengthOf(pieces), end)], length, crc }
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let sum = 0
  for (const piece of pieces) sum += piece.length
  return sum
}

/** Gives the memory of a body back now. The garbage collector would let many of them pile up, and then look through everything. */
export function free(body: Buffer): void {
  if (body.buffer instanceof ArrayBuffer) body.buffer.transfer(0)
}
