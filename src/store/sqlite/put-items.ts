/** Putting items where they belong: into the tail and into reams. */

import { type GoneMap, withGone } from '../gone-map.ts'
import { REAM_SIZE } from '../rank.ts'
import type { ReamBytes } from '../ream.ts'
import { countItems, encodeReam, joinItems, joinPieces, splitItems } from '../ream.ts'
import { insertInto, withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'
import { missingTailItem, REAM, readTail, type Shelf, shelfStart, TAIL } from './stored-ream.ts'

const INSERT_REAM = insertInto(REAM, 'INSERT OR REPLACE')
const INSERT_TAIL = insertInto(TAIL, 'INSERT OR REPLACE')
const DELETE_TAIL = 'DELETE FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?'

/** Makes a ream of the tail's items, with what completes it. Positions without an item are gone. */
export function sealTail(rows: Rows, shelf: Shelf, number: number, completion: Uint8Array): void {
  const start = number * REAM_SIZE
  const end = start + REAM_SIZE
  const completing = countItems(completion)
  const begun = readTail(rows, shelf, number, end - completing)
  const present = new Set(begun.map(({ position }) => position))
  const missing: number[] = []
  for (let position = start; position < end - completing; position++)
    if (!present.has(position)) missing.push(position - start)
  const raw = joinPieces([joinItems(begun.map(({ item }) => item)), completion])
  insertReam(rows, shelf, number, encodeReam(raw, begun.length + completing), withGone(null, missing))
  rows.run(DELETE_TAIL, shelf.id, shelf.generation, start, end)
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

export function deleteFromTail(rows: Rows, shelf: Shelf, position: number): void {
  const removed = rows.run(DELETE_TAIL, shelf.id, shelf.generation, position, position + 1)
  if (removed === 0) throw missingTailItem(shelf, position)
}
