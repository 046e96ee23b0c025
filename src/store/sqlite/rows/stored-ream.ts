/** Reams, tail items and hole counts as SQLite's rows hold them. */

import { damagedCollection } from '../../collection-rules.ts'
import { splitItems } from '../../item-text.ts'
import { countGone, type GoneMap, type HoleCount, REAM_SIZE, tailStart } from '../../positions.ts'
import type { SealedReam, TailItem } from '../../ream.ts'
import { checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Row, Rows } from './rows.ts'

/** Where something lies: in which generation of which collection. */
export interface RowOwner {
  readonly name: string
  readonly id: number
  readonly generation: number
}

export const REAM = new SummedTable(
  'ream',
  'collection_id generation number',
  'count raw_length crc gone quires data',
  ([, , number]) => `Ream ${number}`,
)

const TAIL = new SummedTable(
  'tail',
  'collection_id generation position',
  'item',
  ([, , position]) => `The item at position ${position}, in the tail,`,
)

const READ_REAM = `SELECT ${REAM.select(2)} FROM ream WHERE collection_id = ? AND generation = ? AND number = ?`
const READ_REAMS = `
  SELECT ${REAM.select(2)} FROM ream WHERE collection_id = ? AND generation = ? AND number < ? ORDER BY number`
const READ_TAIL = `
  SELECT ${TAIL.select(2)} FROM tail
  WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ? ORDER BY position LIMIT +?`

/** SQLite's word for it. */
const NO_LIMIT = -1

/** Reads the columns of REAM behind its generation, the first of which is column `at`. */
export function reamOf(rows: Rows, owner: RowOwner, row: Row, at = 0): SealedReam {
  checkSum(rows, REAM.start(owner.id, owner.generation), owner.name, row, at)
  return {
    number: row[at] as number,
    count: row[at + 1] as number,
    rawLength: row[at + 2] as number,
    crc: row[at + 3] as number,
    gone: row[at + 4] as GoneMap,
    quires: row[at + 5] as Uint8Array,
    data: row[at + 6] as Uint8Array,
  }
}

export function readReam(rows: Rows, owner: RowOwner, number: number): SealedReam | undefined {
  const row = rows.get(READ_REAM, owner.id, owner.generation, number)
  return row && reamOf(rows, owner, row)
}

export function requireReam(rows: Rows, owner: RowOwner, number: number): SealedReam {
  const ream = readReam(rows, owner, number)
  if (ream === undefined) throw damagedCollection(owner.name, `Ream ${number} is missing.`)
  return ream
}

const TEXT_BYTES = `
  SELECT (SELECT coalesce(sum(raw_length), 0) FROM ream WHERE collection_id = ?1 AND generation = ?2)
    + (SELECT coalesce(sum(octet_length(item)), 0) FROM tail WHERE collection_id = ?1 AND generation = ?2)`

/** See `Store.textBytes`. */
export function readTextBytes(rows: Rows, { id, generation }: RowOwner): number {
  return Number(rows.get(TEXT_BYTES, id, generation)?.[0] ?? 0)
}

/** The reams before number `end`, in order. */
export function* readReams(rows: Rows, owner: RowOwner, end: number): Generator<SealedReam> {
  for (const row of rows.each(READ_REAMS, owner.id, owner.generation, end)) yield reamOf(rows, owner, row)
}

/** The ream that the tail goes on with, if it has quires already. */
export function readBegunReam(rows: Rows, owner: RowOwner, head: { readonly next: number }): SealedReam | undefined {
  const start = tailStart(head)
  return start % REAM_SIZE === 0 ? undefined : requireReam(rows, owner, Math.floor(start / REAM_SIZE))
}

/** All items of the tail. */
export function readTail(
  rows: Rows,
  owner: RowOwner,
  head: { readonly next: number },
  begun = readBegunReam(rows, owner, head),
): TailItem[] {
  const start = tailStart(head)
  const items = readTailItems(rows, owner, start, head.next)
  const gone = readHole(rows, owner, 0, Math.floor(start / REAM_SIZE)) - countGone(begun?.gone ?? null)
  const expected = head.next - start - gone
  if (items.length === expected) return items
  throw damagedCollection(owner.name, `Its tail has ${items.length} items instead of ${expected}.`)
}

/** Items at positions from `from` on and before `to`, the first `most` of them. */
export function readTailItems(rows: Rows, owner: RowOwner, from: number, to: number, most = NO_LIMIT): TailItem[] {
  const start = TAIL.start(owner.id, owner.generation)
  const items = rows.all(READ_TAIL, owner.id, owner.generation, from, to, most).map((row) => {
    checkSum(rows, start, owner.name, row)
    return { position: row[0] as number, item: row[1] as string }
  })
  // SQLite does not sort: it takes the rows as its pages have them, and one page may be in the place of another.
  const isInOrder = items.every(({ position }, at) => at === 0 || position > (items[at - 1]?.position ?? 0))
  if (!isInOrder) rows.reportDamage(owner.name, 'The items of its tail are not in order.')
  return items
}

/** The item at a position to which a key leads. */
export function readTailItem(rows: Rows, owner: RowOwner, position: number): string {
  const [found] = readTailItems(rows, owner, position, position + 1)
  if (found === undefined)
    throw damagedCollection(owner.name, `The item at position ${position}, in the tail, is missing.`)
  return found.item
}

const INSERT_REAM = REAM.put()
const INSERT_TAIL = TAIL.put()
const DELETE_TAIL = 'DELETE FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?'

export function insertReam(rows: Rows, owner: RowOwner, ream: SealedReam): void {
  const { number, count, rawLength, crc, gone, quires, data } = ream
  const start = REAM.start(owner.id, owner.generation)
  rows.run(INSERT_REAM, ...withSum(start, number, count, rawLength, crc, gone, quires, data))
}

export function insertTail(rows: Rows, owner: RowOwner, from: number, raw: Uint8Array): void {
  for (const [index, item] of splitItems(raw).entries()) putTailItem(rows, owner, from + index, item)
}

export function putTailItem(rows: Rows, owner: RowOwner, position: number, item: string): void {
  rows.run(INSERT_TAIL, ...withSum(TAIL.start(owner.id, owner.generation), position, item))
}

export function deleteTail(rows: Rows, owner: RowOwner, from: number, to: number): void {
  rows.run(DELETE_TAIL, owner.id, owner.generation, from, to)
}

const HOLE = new SummedTable(
  'hole',
  'collection_id generation level block',
  'gone',
  ([, , level, block]) => `The hole count of level ${level}, block ${block}`,
)

const READ = `
  SELECT ${HOLE.select(3)} FROM hole
  WHERE collection_id = ? AND generation = ? AND level = ? AND block >= ? AND block <= ? ORDER BY block`
const READ_ALL = `SELECT ${HOLE.select(2)} FROM hole WHERE collection_id = ? AND generation = ?`
const PUT = HOLE.put()

/** The blocks `from` to `to` of a level that have something gone, in order. */
export function* readHoles(rows: Rows, owner: RowOwner, level: number, from: number, to: number): Generator<HoleCount> {
  const start = HOLE.start(owner.id, owner.generation, level)
  for (const row of rows.each(READ, owner.id, owner.generation, level, from, to)) {
    checkSum(rows, start, owner.name, row)
    yield { level, block: row[0] as number, gone: row[1] as number }
  }
}

export function readHole(rows: Rows, owner: RowOwner, level: number, block: number): number {
  const [hole] = readHoles(rows, owner, level, block, block)
  return hole?.gone ?? 0
}

export function* readAllHoles(rows: Rows, owner: RowOwner): Generator<HoleCount> {
  const start = HOLE.start(owner.id, owner.generation)
  for (const row of rows.each(READ_ALL, owner.id, owner.generation)) {
    checkSum(rows, start, owner.name, row)
    yield { level: row[0] as number, block: row[1] as number, gone: row[2] as number }
  }
}

export function putHole(rows: Rows, owner: RowOwner, { level, block, gone }: HoleCount): void {
  rows.run(PUT, ...withSum(HOLE.start(owner.id, owner.generation), level, block, gone))
}
