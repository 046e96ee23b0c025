/** What nobody can see any more and is yet to be removed, in SQLite. A history is noted as a generation that no collection has. */

import type { Generation, History, Leftover } from '../../rows.ts'
import type { StoredHead } from '../../tables.ts'
import type { Statements } from './statements.ts'

const HISTORY = -1

const INSERT = `
  INSERT INTO leftover (collection_id, generation, base) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET base = min(base, excluded.base), key_cursor = ''`
const IN_THE_WAY = 'SELECT 1 FROM leftover WHERE collection_id = ? AND (generation >= ? OR generation < 0)'
const IDS = 'SELECT DISTINCT collection_id FROM leftover'
const OF_ID = 'SELECT generation, base, key_cursor FROM leftover WHERE collection_id = ? ORDER BY generation LIMIT 1'
const DELETE = 'DELETE FROM leftover WHERE collection_id = ? AND generation = ?'
const MOVE_CURSOR = 'UPDATE leftover SET key_cursor = ? WHERE collection_id = ? AND generation = ?'
const VISIBLE = 'SELECT 1 FROM head WHERE id = ? AND generation = ? AND next > ?'
const CHANGES_OF = 'SELECT changes FROM head WHERE id = ?'
const LAST_KEY = `
  SELECT max(key) FROM (
    SELECT key FROM key WHERE collection_id = ? AND generation = ? AND key > ? ORDER BY key LIMIT +?)`
const SWEEP_KEYS = `
  DELETE FROM key WHERE collection_id = ? AND generation = ? AND key > ? AND key <= ? AND position >= ?`

export function isBlocked(rows: Statements, { id, generation }: StoredHead): boolean {
  return rows.get(IN_THE_WAY, id, generation) !== undefined
}

export function addLeftover(rows: Statements, { shardKey, generationId }: Generation, base: number): void {
  rows.run(INSERT, shardKey, generationId, base)
}

export function addHistoryLeftover(rows: Statements, { id }: History, base: number): void {
  rows.run(INSERT, id, HISTORY, base)
}

/** The ids of their collections. */
export function findLeftoverIds(rows: Statements): number[] {
  return rows.all(IDS).map(([id]) => Number(id))
}

export function findLeftover(rows: Statements, id: number): Leftover | undefined {
  const row = rows.get(OF_ID, id)
  if (row === undefined) return undefined
  const [generation, base, keyCursor] = row as [number, number, string]
  const owner = { name: '', shardKey: id, id, generationId: generation }
  return { owner, isHistory: generation === HISTORY, base, keyCursor }
}

export function removeLeftover(rows: Statements, { owner: { id, generationId } }: Leftover): void {
  rows.run(DELETE, id, generationId)
}

export function moveCursor(rows: Statements, { owner: { id, generationId } }: Leftover, keyCursor: string): void {
  rows.run(MOVE_CURSOR, keyCursor, id, generationId)
}

export function isVisible(rows: Statements, { shardKey, generationId }: Generation, base: number): boolean {
  return rows.get(VISIBLE, shardKey, generationId, base) !== undefined
}

export function findChanges(rows: Statements, { id }: History): number | undefined {
  return rows.get(CHANGES_OF, id)?.[0] as number | undefined
}

export function findLastKey(rows: Statements, place: Generation, after: string, limit: number): string | undefined {
  const row = rows.get(LAST_KEY, place.shardKey, place.generationId, after, limit)
  return (row?.[0] ?? undefined) as string | undefined
}

export function sweepKeys(rows: Statements, place: Generation, after: string, last: string, base: number): void {
  rows.run(SWEEP_KEYS, place.shardKey, place.generationId, after, last, base)
}
