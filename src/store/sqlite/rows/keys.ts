/** Adds keys, each with its position. */

import type { SQLInputValue } from 'node:sqlite'
import { KeysTaken } from '../../load.ts'
import type { Generation } from '../../rows.ts'
import { KEY } from '../../tables.ts'
import { isAgainstConstraint } from './explain-error.ts'
import { sumOf, withSum } from './row-sum.ts'
import type { Statements } from './statements.ts'
import { statementsOf } from './table-statements.ts'

const { summed } = statementsOf(KEY)
const INSERT = summed.insert()
const INSERT_NEW = `${INSERT} ON CONFLICT DO NOTHING`

/** In one statement. With fewer or with more, each of them takes longer. */
const KEYS_A_STATEMENT = 20
const PLACES = Array.from(
  { length: KEYS_A_STATEMENT },
  (_, at) => `(?1, ?2, ?${4 + 2 * at}, ?3 + ${at}, ?${5 + 2 * at})`,
)
/** OR FAIL keeps the rows before one that fails: to undo them, SQLite would write a journal for each statement. */
const INSERT_SOME = `INSERT OR FAIL INTO key (${summed.select(0)}) VALUES ${PLACES.join(', ')}`

/** Returns false if the key exists. */
export function addKey(
  rows: Statements,
  { shardKey, generationId }: Generation,
  key: string,
  position: number,
): boolean {
  return rows.run(INSERT_NEW, ...withSum(summed.start(shardKey, generationId, key), position)) === 1
}

/** Gives keys positions in a row. Throws KeysTaken if one exists; the transaction then has to be rolled back. */
export function insertKeys(rows: Statements, place: Generation, keys: readonly string[], first: number): void {
  const { shardKey, generationId } = place
  const start = summed.start(shardKey, generationId)
  const whole = keys.length - (keys.length % KEYS_A_STATEMENT)
  try {
    for (let from = 0; from < whole; from += KEYS_A_STATEMENT) {
      const values: SQLInputValue[] = [shardKey, generationId, first + from]
      for (let at = from; at < from + KEYS_A_STATEMENT; at++) {
        const key = keys[at] ?? ''
        values.push(key, sumOf(start, key, first + at))
      }
      rows.run(INSERT_SOME, ...values)
    }
    for (let at = whole; at < keys.length; at++) rows.run(INSERT, ...withSum(start, keys[at] ?? '', first + at))
  } catch (error) {
    throw isAgainstConstraint(error) ? new KeysTaken('A key exists.', { cause: error }) : error
  }
}
