/** Putting items where they belong: into the tail, into reams, and their keys beside them. */

import { type GoneMap, withGone } from '../gone-map.ts'
import { countItems, encodeReam, joinItems, joinPieces, REAM_SIZE, splitItems } from '../ream.ts'
import type { ReamBytes } from '../ream-bytes.ts'
import type { Rows } from './rows.ts'
import { readTailItems, type Shelf } from './stored-ream.ts'

const INSERT_REAM = `
  INSERT OR REPLACE INTO ream (collection_id, generation, number, count, raw_length, crc, gone, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_TAIL = 'INSERT OR REPLACE INTO tail (collection_id, generation, position, item) VALUES (?, ?, ?, ?)'
const DELETE_TAIL = 'DELETE FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?'
const INSERT_KEY = `
  INSERT INTO key (collection_id, generation, key, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`

/** Makes a ream of the tail's items, with what completes it. Positions without an item are gone. */
export function sealTail(rows: Rows, shelf: Shelf, number: number, completion: Uint8Array): void {
  const start = number * REAM_SIZE
  const end = start + REAM_SIZE
  const begun = readTailItems(rows, shelf, start, end)
  const completing = countItems(completion)
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
  rows.run(INSERT_REAM, shelf.id, shelf.generation, number, count, rawLength, crc, gone, data)
}

export function insertTail(rows: Rows, shelf: Shelf, from: number, raw: Uint8Array): void {
  for (const [index, item] of splitItems(raw).entries()) putTailItem(rows, shelf, from + index, item)
}

export function putTailItem(rows: Rows, shelf: Shelf, position: number, item: string): void {
  rows.run(INSERT_TAIL, shelf.id, shelf.generation, position, item)
}

export function deleteFromTail(rows: Rows, shelf: Shelf, number: number, slots: Iterable<number>): void {
  for (const slot of slots) {
    const position = number * REAM_SIZE + slot
    rows.run(DELETE_TAIL, shelf.id, shelf.generation, position, position + 1)
  }
}

/** False if the key is taken. */
export function insertKey(rows: Rows, shelf: Shelf, key: string, position: number): boolean {
  return rows.run(INSERT_KEY, shelf.id, shelf.generation, key, position) === 1
}
