/** Hole counts as SQLite's rows hold them. */

import type { HoleCount } from '../rank.ts'
import { checkSum, columnsOf, insertInto, rowStart, type SummedTable, withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'
import type { Shelf } from './stored-ream.ts'

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
