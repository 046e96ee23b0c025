/**
 * Proves that a row which was not found is not there. A search that met a damaged row ends right beside it: so the rows
 * around that place must be sound, and in order.
 */

import type { SQLInputValue } from 'node:sqlite'
import { checkSum, type SummedTable } from './row-sum.ts'
import type { Row, Rows } from './rows.ts'

/** Statements that find the rows next to a key, by how many of its columns are compared. Without any: the last or first rows. */
interface Neighbours {
  readonly below: readonly string[]
  readonly above: readonly string[]
}

/** The row next to the place, and one more: of two that are the same, or in the wrong order, one is in the place of another. */
const ROWS_A_SIDE = 2

const known = new Map<SummedTable, Neighbours>()

function neighboursIn(table: SummedTable): Neighbours {
  const statements = (sign: string, order: string): string[] =>
    [0, ...table.key.keys().map((at) => at + 1)].map((width) => {
      const conditions = table.key.slice(0, width).map((column, at) => `${column} ${at < width - 1 ? '=' : sign} ?`)
      return `
        SELECT ${table.select(0)} FROM ${table.name} ${width > 0 ? 'WHERE' : ''} ${conditions.join(' AND ')}
        ORDER BY ${table.key.map((column) => `${column} ${order}`).join(', ')} LIMIT ${ROWS_A_SIDE}`
    })
  const neighbours = known.get(table) ?? { below: statements('<', 'DESC'), above: statements('>', 'ASC') }
  known.set(table, neighbours)
  return neighbours
}

type Key = readonly SQLInputValue[]

/**
 * To be called in the snapshot in which the row with this primary key was not found. With `isHidden` it was found, and
 * must not be known by the time that it takes.
 */
export function checkAbsence(
  rows: Rows,
  table: SummedTable,
  collection: string | undefined,
  key: Key,
  isHidden = false,
): void {
  const neighbours = neighboursIn(table)
  const below = findRows(rows, neighbours.below, key)
  // From row to row, and back: a walk down ends at a row that is too low for its place, and a walk up at one too high.
  const above = findRows(rows, neighbours.above, below[0] && keyOf(table, below[0]))
  const back = findRows(rows, neighbours.below, above[0] && keyOf(table, above[0]))
  for (const row of [...below, ...above, ...back]) checkSum(rows, table.start(), collection, row)
  const around = [...below.toReversed(), ...(isHidden ? [] : [key]), ...above]
  const isInOrder = around.every((row, index) => index === 0 || compareKeys(table, around[index - 1] ?? [], row) < 0)
  const isBack = compareKeys(table, back[0] ?? [], below[0] ?? []) === 0
  if (!isInOrder || !isBack) rows.reportDamage(collection, `Rows of the table "${table.name}" are not in order.`)
}

/** The rows nearest to a key, whatever collection they are of; without a key, those at the end. */
function findRows(rows: Rows, statements: readonly string[], key: Key = []): readonly Row[] {
  const found: Row[] = []
  // One column less at a time: if all were compared at once, SQLite would leave out a row with a NULL.
  for (let width = key.length; found.length < ROWS_A_SIDE; width--) {
    const sql = statements[width]
    if (sql === undefined || (width === 0 && key.length > 0)) break
    found.push(...rows.all(sql, ...key.slice(0, width)))
  }
  return found.slice(0, ROWS_A_SIDE)
}

/** The cast: a key has no other types than those of a parameter. */
function keyOf(table: SummedTable, row: Row): Key {
  return row.slice(0, table.key.length) as SQLInputValue[]
}

/** As SQLite compares them: numbers by value, texts by their bytes. */
function compareKeys(table: SummedTable, a: Key | Row, b: Key | Row): number {
  for (const at of table.key.keys()) {
    const [x, y] = [a[at], b[at]]
    const order = typeof x === 'number' ? x - Number(y) : Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)))
    if (order !== 0) return order
  }
  return 0
}
