/** Which position each key of a collection has. */

import type { SQLInputValue } from 'node:sqlite'
import { damagedCollection } from '../../collection-rules.ts'
import type { Generation } from '../../rows.ts'
import { isAgainstConstraint } from './explain-error.ts'
import { checkAbsence, checkSum, SummedTable, sumOf, withSum } from './row-sum.ts'
import type { Statements } from './statements.ts'

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
/** Keys in one statement. With fewer or with more, each of them takes longer. */
const KEYS_A_STATEMENT = 20
/** Stops at a key that is taken. Those before it are inserted then. */
const INSERT_SOME = `
  INSERT OR FAIL INTO key (${KEY.select(0)})
  VALUES ${Array.from({ length: KEYS_A_STATEMENT }, (_, at) => `(?1, ?2, ?${4 + 2 * at}, ?3 + ${at}, ?${5 + 2 * at})`).join(', ')}`
const DELETE = 'DELETE FROM key WHERE collection_id = ? AND generation = ? AND key = ?'

/** The position that a key has. To be called in a snapshot. Unless it is told otherwise, it proves that there is none. */
export function findKey(rows: Statements, place: Generation, key: string, mustProve = true): number | undefined {
  // SQLite would look for U+FFFD in the place of half a surrogate pair, and no key holds such a half.
  if (!key.isWellFormed()) return undefined
  const row = rows.get(FIND, place.shardKey, place.generationId, key)
  if (row === undefined && mustProve) checkAbsence(rows, KEY, place.name, [place.shardKey, place.generationId, key])
  if (row !== undefined) checkSum(rows, KEY.start(place.shardKey, place.generationId, key), place.name, row)
  return row?.[0] as number | undefined
}

export function* readPositions(rows: Statements, place: Generation): Generator<number> {
  const start = KEY.start(place.shardKey, place.generationId)
  for (let last: string | undefined = ''; last !== undefined; ) {
    const found = rows.all(NEXT, place.shardKey, place.generationId, last)
    for (const row of found) checkSum(rows, start, place.name, row)
    for (const row of found) yield row[1] as number
    last = found.length < KEYS_AT_A_TIME ? undefined : (found.at(-1)?.[0] as string)
  }
}

/**
 * Gives each key the next position, the first one `position`, but for those that have one already. Answers which ones these are, by
 * index, and where they are.
 */
export function claimKeys(
  rows: Statements,
  place: Generation,
  keys: readonly string[],
  position: number,
): ReadonlyMap<number, number> {
  const taken = new Map<number, number>()
  for (let from = 0; from < keys.length; from += KEYS_A_STATEMENT) {
    const some = keys.slice(from, from + KEYS_A_STATEMENT)
    // Where one is taken, others are likely to be.
    const mayBeFree = taken.size === 0 && some.length === KEYS_A_STATEMENT
    if (mayBeFree && claimFreeKeys(rows, place, some, position + from)) continue
    for (const [at, key] of some.entries()) {
      const wanted = position + from + at - taken.size
      const claimed = claimKey(rows, place, key, wanted)
      if (claimed !== wanted) taken.set(from + at, claimed)
    }
  }
  return taken
}

/**
 * Gives KEYS_A_STATEMENT keys the positions from `position` on. Answers false if one of them is taken. Some have theirs then, and
 * `claimKey` finds them at the position that it would give them.
 */
function claimFreeKeys(rows: Statements, place: Generation, keys: readonly string[], position: number): boolean {
  const start = KEY.start(place.shardKey, place.generationId)
  const values: SQLInputValue[] = [place.shardKey, place.generationId, position]
  for (const [at, key] of keys.entries()) values.push(key, sumOf(start, key, position + at))
  try {
    rows.run(INSERT_SOME, ...values)
    return true
  } catch (error) {
    if (isAgainstConstraint(error)) return false
    throw error
  }
}

/** Gives a key that position, unless it has one already. Answers the position that it has then. */
export function claimKey(rows: Statements, place: Generation, key: string, position: number): number {
  const row = withSum(KEY.start(place.shardKey, place.generationId, key), position)
  if (rows.run(INSERT, ...row) === 1) return position
  const taken = findKey(rows, place, key)
  if (taken === undefined)
    throw damagedCollection(place.name, `The key ${JSON.stringify(key)} is there and cannot be found.`)
  return taken
}

export function deleteKey(rows: Statements, place: Generation, key: string): void {
  rows.run(DELETE, place.shardKey, place.generationId, key)
}
