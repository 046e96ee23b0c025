/** Keys and the positions of their items, as SQLite's rows hold them. */

import { checkAbsence } from './absence.ts'
import { damage } from './explain-error.ts'
import { checkSum, SummedTable, withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'
import type { RowOwner } from './stored-ream.ts'

const KEY = new SummedTable(
  'key',
  'collection_id generation key',
  'position',
  ([, , key]) => `The key ${JSON.stringify(key)}`,
)

/** Rows that are read at a time. */
const KEYS_AT_A_TIME = 10_000

const FIND = `SELECT ${KEY.select(3)} FROM key WHERE collection_id = ? AND generation = ? AND key = ?`
const NEXT = `
  SELECT ${KEY.select(2)} FROM key
  WHERE collection_id = ? AND generation = ? AND key > ? ORDER BY key LIMIT ${KEYS_AT_A_TIME}`
const INSERT = `${KEY.insert()} ON CONFLICT DO NOTHING`
const DELETE = 'DELETE FROM key WHERE collection_id = ? AND generation = ? AND key = ?'

/** The position that a key has. To be called in a snapshot. Unless it is told otherwise, it proves that there is none. */
export function findKey(rows: Rows, owner: RowOwner, key: string, mustProve = true): number | undefined {
  // SQLite would look for U+FFFD in the place of half a surrogate pair, and no key holds such a half.
  if (!key.isWellFormed()) return undefined
  const row = rows.get(FIND, owner.id, owner.generation, key)
  if (row === undefined && mustProve) checkAbsence(rows, KEY, owner.name, [owner.id, owner.generation, key])
  if (row !== undefined) checkSum(rows, KEY.start(owner.id, owner.generation, key), owner.name, row)
  return row?.[0] as number | undefined
}

/** The positions of all keys. */
export function* readPositions(rows: Rows, owner: RowOwner): Generator<number> {
  const start = KEY.start(owner.id, owner.generation)
  for (let last: string | undefined = ''; last !== undefined; ) {
    const found = rows.all(NEXT, owner.id, owner.generation, last)
    for (const row of found) checkSum(rows, start, owner.name, row)
    for (const row of found) yield row[1] as number
    last = found.length < KEYS_AT_A_TIME ? undefined : (found.at(-1)?.[0] as string)
  }
}

/** Gives a key that position, unless it has one already. Answers the position that it has then. */
export function claimKey(rows: Rows, owner: RowOwner, key: string, position: number): number {
  const row = withSum(KEY.start(owner.id, owner.generation, key), position)
  if (rows.run(INSERT, ...row) === 1) return position
  const taken = findKey(rows, owner, key)
  if (taken === undefined) throw damage(owner.name, `The key ${JSON.stringify(key)} is there and cannot be found.`)
  return taken
}

export function deleteKey(rows: Rows, owner: RowOwner, key: string): void {
  rows.run(DELETE, owner.id, owner.generation, key)
}
