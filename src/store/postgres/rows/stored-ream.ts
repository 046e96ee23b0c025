/** Reams and tail items as PostgreSQL's rows hold them. */

import type { GoneMap } from '../../positions.ts'
import type { ReamBytes, SealedReam } from '../../ream.ts'
import type { Row } from './sender.ts'

/** Columns of a ream's bytes. */
export const REAM_BYTES_WIDTH = 5

/** Reads the five columns of a ream's bytes, the first of which is column `at`. */
export function bytesOf(row: Row, at = 0): ReamBytes {
  return {
    count: row[at] as number,
    rawLength: row[at + 1] as number,
    crc: row[at + 2] as number,
    quires: row[at + 3] as Buffer,
    data: Buffer.from(row[at + 4] as string, 'base64'),
  }
}

/** Reads a whole ream: its bytes, its number and its map. */
export function reamOf(row: Row, at = 0): SealedReam {
  return {
    ...bytesOf(row, at),
    number: row[at + REAM_BYTES_WIDTH] as number,
    gone: row[at + REAM_BYTES_WIDTH + 1] as GoneMap,
  }
}

/** Half of a surrogate pair cannot be written in UTF-8, so no item has such a key: null is equal to none. */
export function keyBytes(key: string): Buffer | null {
  return key.isWellFormed() ? Buffer.from(key) : null
}

/** Rows that go together in one statement. */
const MESSAGE_BYTES = 1024 * 1024

/** As many rows as make a message of some size; a large one goes alone. */
export function* inMessages<T>(rows: readonly T[], bytesOf: (row: T) => number): Generator<readonly T[]> {
  let part: T[] = []
  let bytes = 0
  for (const row of rows) {
    const size = bytesOf(row)
    if (part.length > 0 && bytes + size > MESSAGE_BYTES) {
      yield part
      part = []
      bytes = 0
    }
    part.push(row)
    bytes += size
  }
  if (part.length > 0) yield part
}

/** Values for `loadReams`: a list for each column, and the bytes of all reams together. */
export function reamLists(reams: readonly SealedReam[]): unknown[] {
  let start = 1
  const starts = reams.map(({ data }) => {
    start += data.byteLength
    return start - data.byteLength
  })
  return [
    reams.map(({ number }) => number),
    reams.map(({ count }) => count),
    reams.map(({ rawLength }) => rawLength),
    reams.map(({ crc }) => crc),
    reams.map(({ gone }) => gone && Buffer.from(gone)),
    reams.map(({ quires }) => Buffer.from(quires)),
    starts,
    reams.map(({ data }) => data.byteLength),
    Buffer.concat(reams.map(({ data }) => data)),
  ]
}
