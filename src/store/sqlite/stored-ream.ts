/** Reams, tail items and hole counts as SQLite's rows hold them. */

import type { GoneMap } from '../gone-map.ts'
import { type HoleCount, REAM_SIZE } from '../rank.ts'
import { encodeReam, type ReamBytes, type SealedReam, splitItems, type TailItem } from '../ream.ts'
import { sealItems } from '../ream-draft.ts'
import type { StoreError } from '../store-error.ts'
import { damage } from './explain-error.ts'
import { checkSum, columnsOf, insertInto, type RowStart, rowStart, type SummedTable, withSum } from './row-sum.ts'
import type { Row, Rows } from './rows.ts'

/** Where something lies: in which generation of which collection. */
export interface Shelf {
  readonly name: string
  readonly id: number
  readonly generation: number
}

export const REAM: SummedTable = {
  name: 'ream',
  key: ['collection_id', 'generation', 'number'],
  columns: ['collection_id', 'generation', 'number', 'count', 'raw_length', 'crc', 'gone', 'data'],
  title: ([, , number]) => `Ream ${number}`,
}

export const TAIL: SummedTable = {
  name: 'tail',
  key: ['collection_id', 'generation', 'position'],
  columns: ['collection_id', 'generation', 'position', 'item'],
  title: ([, , position]) => `The item at position ${position}, in the tail,`,
}

const READ_REAM = `SELECT ${columnsOf(REAM, 2)} FROM ream WHERE collection_id = ? AND generation = ? AND number = ?`
const READ_REAMS = `
  SELECT ${columnsOf(REAM, 2)} FROM ream WHERE collection_id = ? AND generation = ? AND number < ? ORDER BY number`
const READ_TAIL = `
  SELECT ${columnsOf(TAIL, 2)} FROM tail
  WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`

/** SQLite's word for it. */
const NO_LIMIT = -1

/** What rows of a shelf begin with. */
export function shelfStart(table: SummedTable, { id, generation }: Shelf): RowStart {
  return rowStart(table, id, generation)
}

/** Reads the columns of REAM behind its shelf, the first of which is column `at`. */
export function reamOf(rows: Rows, shelf: Shelf, row: Row, at = 0): SealedReam {
  checkSum(rows, shelfStart(REAM, shelf), shelf.name, row, at)
  return {
    number: row[at] as number,
    count: row[at + 1] as number,
    rawLength: row[at + 2] as number,
    crc: row[at + 3] as number,
    gone: row[at + 4] as GoneMap,
    data: row[at + 5] as Uint8Array,
  }
}

export function readReam(rows: Rows, shelf: Shelf, number: number): SealedReam | undefined {
  const row = rows.get(READ_REAM, shelf.id, shelf.generation, number)
  return row && reamOf(rows, shelf, row)
}

/** The reams before number `end`, in order. */
export function* readReams(rows: Rows, shelf: Shelf, end: number): Generator<SealedReam> {
  for (const row of rows.each(READ_REAMS, shelf.id, shelf.generation, end)) yield reamOf(rows, shelf, row)
}

/** All items of the tail, which is ream `number`, at positions before `end`. */
export function readTail(rows: Rows, shelf: Shelf, number: number, end: number): TailItem[] {
  const start = number * REAM_SIZE
  const items = readTailItems(rows, shelf, start, end)
  const expected = end - start - readHole(rows, shelf, 0, number)
  if (items.length === expected) return items
  throw damage(shelf.name, `Its tail has ${items.length} items in the place of ${expected}.`)
}

/** Items at positions from `from` on and before `to`, the first `most` of them. */
export function readTailItems(rows: Rows, shelf: Shelf, from: number, to: number, most = NO_LIMIT): TailItem[] {
  const start = shelfStart(TAIL, shelf)
  const items = rows.all(READ_TAIL, shelf.id, shelf.generation, from, to, most).map((row) => {
    checkSum(rows, start, shelf.name, row)
    return { position: row[0] as number, item: row[1] as string }
  })
  // SQLite does not sort: it takes the rows as its pages have them, and one page may be in the place of another.
  const isInOrder = items.every(({ position }, at) => at === 0 || position > (items[at - 1]?.position ?? 0))
  if (!isInOrder) rows.reportDamage(shelf.name, 'The items of its tail are not in order.')
  return items
}

/** The item at a position to which a key leads. */
export function readTailItem(rows: Rows, shelf: Shelf, position: number): string {
  const [found] = readTailItems(rows, shelf, position, position + 1)
  if (found === undefined) throw missingTailItem(shelf, position)
  return found.item
}

export function missingTailItem({ name }: Shelf, position: number): StoreError {
  return damage(name, `The item at position ${position}, in the tail, is missing.`)
}

const INSERT_REAM = insertInto(REAM, 'INSERT OR REPLACE')
const INSERT_TAIL = insertInto(TAIL, 'INSERT OR REPLACE')
const DELETE_TAIL = 'DELETE FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?'

/** Makes a ream of the tail's items. Positions without an item are gone. */
export function sealTail(rows: Rows, shelf: Shelf, number: number): void {
  const start = number * REAM_SIZE
  const end = start + REAM_SIZE
  const { raw, count, gone } = sealItems(start, end, readTail(rows, shelf, number, end))
  insertReam(rows, shelf, number, encodeReam(raw, count), gone)
  deleteTail(rows, shelf, start, end)
}

export function insertReam(rows: Rows, shelf: Shelf, number: number, ream: ReamBytes, gone: GoneMap): void {
  const { count, rawLength, crc, data } = ream
  rows.run(INSERT_REAM, ...withSum(shelfStart(REAM, shelf), number, count, rawLength, crc, gone, data))
}

export function insertTail(rows: Rows, shelf: Shelf, from: number, raw: Uint8Array): void {
  for (const [index, item] of splitItems(raw).entries()) putTailItem(rows, shelf, from + index, item)
}

export function putTailItem(rows: Rows, shelf: Shelf, position: number, item: string): void {
  rows.run(INSERT_TAIL, ...withSum(shelfStart(TAIL, shelf), position, item))
}

export function deleteTail(rows: Rows, shelf: Shelf, from: number, to: number): void {
  rows.run(DELETE_TAIL, shelf.id, shelf.generation, from, to)
}

const HOLE: SummedTable = {
  name: 'hole',
  key: ['collection_id', 'generation', 'level', 'block'],
  columns: ['collection_id', 'generation', 'level', 'block', 'gone'],
  title: ([, , level, block]) => `The hole count of level ${level}, block ${block}`,
}

const READ = `
  SELECT ${columnsOf(HOLE, 3)} FROM hole
  WHERE collection_id = ? AND generation = ? AND level = ? AND block >= ? AND block <= ? ORDER BY block`
const READ_ALL = `SELECT ${columnsOf(HOLE, 2)} FROM hole WHERE collection_id = ? AND generation = ?`
const PUT = insertInto(HOLE, 'INSERT OR REPLACE')

/** The blocks `from` to `to` of a level that have something gone, in order. */
export function* readHoles(rows: Rows, shelf: Shelf, level: number, from: number, to: number): Generator<HoleCount> {
  const start = rowStart(HOLE, shelf.id, shelf.generation, level)
  for (const row of rows.each(READ, shelf.id, shelf.generation, level, from, to)) {
    checkSum(rows, start, shelf.name, row)
    yield { level, block: row[0] as number, gone: row[1] as number }
  }
}

/** How many positions are gone in a block. */
export function readHole(rows: Rows, shelf: Shelf, level: number, block: number): number {
  const [hole] = readHoles(rows, shelf, level, block, block)
  return hole?.gone ?? 0
}

export function* readAllHoles(rows: Rows, shelf: Shelf): Generator<HoleCount> {
  const start = rowStart(HOLE, shelf.id, shelf.generation)
  for (const row of rows.each(READ_ALL, shelf.id, shelf.generation)) {
    checkSum(rows, start, shelf.name, row)
    yield { level: row[0] as number, block: row[1] as number, gone: row[2] as number }
  }
}

export function putHole(rows: Rows, shelf: Shelf, { level, block, gone }: HoleCount): void {
  rows.run(PUT, ...withSum(rowStart(HOLE, shelf.id, shelf.generation), level, block, gone))
}
