/** How many rows a table must have. A page that lost some of its rows looks sound otherwise. */

import { checkSum, columnsOf, insertInto, rowStart, type SummedTable, withSum } from './row-sum.ts'
import type { Rows } from './rows.ts'

const ROW_COUNT: SummedTable = {
  name: 'row_count',
  key: ['name'],
  columns: ['name', 'count'],
  title: ([name]) => `How many rows the table "${name}" has`,
}

const READ = `SELECT ${columnsOf(ROW_COUNT, 1)} FROM row_count WHERE name = ?`
const PUT = insertInto(ROW_COUNT, 'INSERT OR REPLACE')

/** To be called in the snapshot in which the rows were counted. Without `found` SQLite counts them, which is fast. */
export function checkRowCount(rows: Rows, table: SummedTable, found: number = countRows(rows, table)): void {
  const expected = readRowCount(rows, table)
  if (found === expected) return
  rows.reportDamage(undefined, `The table "${table.name}" has ${found} rows in the place of ${expected}.`)
}

/** For whoever inserts or deletes a row: `change` is 1 or -1. */
export function changeRowCount(rows: Rows, table: SummedTable, change: number): void {
  rows.run(PUT, ...withSum(rowStart(ROW_COUNT, table.name), readRowCount(rows, table) + change))
}

function readRowCount(rows: Rows, { name }: SummedTable): number {
  const row = rows.get(READ, name)
  if (row !== undefined) checkSum(rows, rowStart(ROW_COUNT, name), undefined, row)
  return (row?.[0] ?? 0) as number
}

function countRows(rows: Rows, { name }: SummedTable): number {
  return rows.get(`SELECT count(*) FROM ${name}`)?.[0] as number
}
