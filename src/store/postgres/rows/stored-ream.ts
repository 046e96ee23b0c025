/** Reams and tail items as PostgreSQL's rows hold them. */

import type { GoneMap } from '../../positions.ts'
import type { ReamBytes, SealedReam, TailItem } from '../../ream.ts'
import type { RowOwner } from './head.ts'
import type { Row, Rows } from './rows.ts'

/** Rows that are fetched at a time, so that memory stays flat. */
const REAMS_AT_A_TIME = 16
const ITEMS_AT_A_TIME = 1_000

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
  return { ...bytesOf(row, at), number: row[at + 5] as number, gone: row[at + 6] as GoneMap }
}

/** The reams from number `from` up to but not including `to`, in order. */
export async function* readReams(
  rows: Rows,
  { shardKey, generationId }: RowOwner,
  from: number,
  to: number,
): AsyncGenerator<SealedReam> {
  for (let next = from; ; ) {
    const found = await rows.all('readReams', shardKey, generationId, next, to, REAMS_AT_A_TIME)
    for (const row of found) {
      const ream = reamOf(row)
      yield ream
      next = ream.number + 1
    }
    if (found.length < REAMS_AT_A_TIME) return
  }
}

/** The items of the tail at positions `from` up to but not including `to`, in order. */
export async function* readTail(
  rows: Rows,
  { shardKey, generationId }: RowOwner,
  from: number,
  to: number,
): AsyncGenerator<TailItem> {
  for (let next = from; ; ) {
    const found = await rows.all('readTail', shardKey, generationId, next, to, ITEMS_AT_A_TIME)
    for (const row of found) {
      const position = row[0] as number
      yield { position, item: String(row[1]) }
      next = position + 1
    }
    if (found.length < ITEMS_AT_A_TIME) return
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

/** Values for `putReam`. */
export function reamColumns({ number, count, rawLength, crc, gone, quires, data }: SealedReam): unknown[] {
  return [number, count, rawLength, crc, gone, quires, data]
}

/** Values for `loadReams`: a list a column, and the bytes of all reams together. */
export function reamValues(reams: readonly SealedReam[]): unknown[] {
  const starts: number[] = []
  let length = 0
  for (const { data } of reams) {
    starts.push(length + 1)
    length += data.byteLength
  }
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
