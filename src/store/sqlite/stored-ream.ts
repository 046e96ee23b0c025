/** Reams and tail items as SQLite's rows hold them. */

import { ITEM_SEPARATOR } from '../../contract/envelope.ts'
import type { GoneMap } from '../gone-map.ts'
import type { ReamBytes } from '../ream-bytes.ts'
import { KEYS_AT_A_TIME, type KeyPosition, type SealedReam, type TailItem } from '../stored-collection.ts'
import type { Row, Rows } from './rows.ts'

/** Where something lies: in which generation of which collection. */
export interface Shelf {
  readonly id: number
  readonly generation: number
}

/** What an answer needs of a ream: see `bytesOf`. */
export const BYTES_COLUMNS = 'r.count, r.raw_length, r.crc, r.data'

const REAM_COLUMNS = `${BYTES_COLUMNS}, r.number, r.gone`

const REAM = `SELECT ${REAM_COLUMNS} FROM ream r WHERE r.collection_id = ? AND r.generation = ? AND r.number = ?`
const REAMS = `
  SELECT ${REAM_COLUMNS} FROM ream r
  WHERE r.collection_id = ? AND r.generation = ? AND r.number < ? ORDER BY r.number`
const TAIL_TEXT = `
  SELECT count(*), coalesce(group_concat(item, ? ORDER BY position), '')
  FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?`
const TAIL_ITEMS = `
  SELECT position, item FROM tail
  WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ? ORDER BY position`
const KEYS = `
  SELECT key, position FROM key WHERE collection_id = ? AND generation = ? AND key > ? ORDER BY key LIMIT ${KEYS_AT_A_TIME}`
const TAIL_ITEM = 'SELECT item FROM tail WHERE collection_id = ? AND generation = ? AND position = ?'

/** Reads BYTES_COLUMNS, the first of which is column `at`. */
export function bytesOf(row: Row, at = 0): ReamBytes {
  return {
    count: row[at] as number,
    rawLength: row[at + 1] as number,
    crc: row[at + 2] as number,
    data: row[at + 3] as Uint8Array,
  }
}

function reamOf(row: Row): SealedReam {
  return { ...bytesOf(row), number: row[4] as number, gone: row[5] as GoneMap }
}

export function readReam(rows: Rows, shelf: Shelf, number: number): SealedReam | undefined {
  const row = rows.get(REAM, shelf.id, shelf.generation, number)
  return row && reamOf(row)
}

/** The reams before number `end`, in order. */
export function* readReams(rows: Rows, shelf: Shelf, end: number): Generator<SealedReam> {
  for (const row of rows.each(REAMS, shelf.id, shelf.generation, end)) yield reamOf(row)
}

/** The items at positions `from` up to but not including `to`, joined as a segment wants them. */
export function readTailText(rows: Rows, shelf: Shelf, from: number, to: number): { raw: Buffer; count: number } {
  const row = rows.get(TAIL_TEXT, ITEM_SEPARATOR, shelf.id, shelf.generation, from, to)
  return { count: row?.[0] as number, raw: Buffer.from(row?.[1] as string) }
}

export function readTailItems(rows: Rows, shelf: Shelf, from: number, to: number): TailItem[] {
  const found = rows.all(TAIL_ITEMS, shelf.id, shelf.generation, from, to)
  return found.map((row) => ({ position: row[0] as number, item: row[1] as string }))
}

export function readTailItem(rows: Rows, shelf: Shelf, position: number): string | undefined {
  return rows.get(TAIL_ITEM, shelf.id, shelf.generation, position)?.[0] as string | undefined
}

/** The keys of positions before `end`, in order, many at a time. */
export function* readKeys(rows: Rows, shelf: Shelf, end: number): Generator<readonly KeyPosition[]> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const found = rows.all(KEYS, shelf.id, shelf.generation, last)
    const keys = found.map((row) => ({ key: row[0] as string, position: row[1] as number }))
    yield keys.filter(({ position }) => position < end)
    last = keys.length < KEYS_AT_A_TIME ? undefined : keys.at(-1)?.key
  }
}
