/** What nobody can see any more and is yet to be removed, in SQLite. */

import { type Extent, leftoverOf } from '../../default-operations.ts'
import type { Generation, Leftover } from '../../rows.ts'
import type { Statements } from './statements.ts'

const ALL = 'SELECT collection_id, generation, base, key_cursor FROM leftover'
const OF_ID = `${ALL} WHERE collection_id = ?`
const PUT = 'REPLACE INTO leftover (collection_id, generation, base, key_cursor) VALUES (?, ?, ?, ?)'
const DELETE = 'DELETE FROM leftover WHERE collection_id = ? AND generation = ?'
const EXTENT = 'SELECT generation, next, changes FROM head WHERE id = ?'
const LAST_KEY = `
  SELECT max(key) FROM (
    SELECT key FROM key WHERE collection_id = ? AND generation = ? AND key > ? ORDER BY key LIMIT +?)`
const SWEEP_KEYS = `
  DELETE FROM key WHERE collection_id = ? AND generation = ? AND key > ? AND key <= ? AND position >= ?`

export function findLeftovers(rows: Statements, id?: number): Leftover[] {
  const found = id === undefined ? rows.all(ALL) : rows.all(OF_ID, id)
  return found.map((row) => leftoverOf(...(row as [id: number, generation: number, base: number, keyCursor: string])))
}

export function putLeftover(rows: Statements, { owner: { id, generationId }, base, keyCursor }: Leftover): void {
  rows.run(PUT, id, generationId, base, keyCursor)
}

export function removeLeftover(rows: Statements, { owner: { id, generationId } }: Leftover): void {
  rows.run(DELETE, id, generationId)
}

export function findExtent(rows: Statements, id: number): Extent | undefined {
  const row = rows.get(EXTENT, id)
  if (row === undefined) return undefined
  const [generation, next, changes] = row as [number, number, number]
  return { generation, next, changes }
}

export function findLastKey(rows: Statements, place: Generation, after: string, limit: number): string | undefined {
  const row = rows.get(LAST_KEY, place.shardKey, place.generationId, after, limit)
  return (row?.[0] ?? undefined) as string | undefined
}

export function sweepKeys(rows: Statements, place: Generation, after: string, last: string, base: number): void {
  rows.run(SWEEP_KEYS, place.shardKey, place.generationId, after, last, base)
}
