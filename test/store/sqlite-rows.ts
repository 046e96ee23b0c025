/** Rows of an SQLite store, changed behind its back. */

import { DatabaseSync } from 'node:sqlite'
import { BUSY_TIMEOUT_MS } from '../../src/store/sqlite/file/store-file.ts'
import { defineRowSum } from '../../src/store/sqlite/rows/row-sum.ts'

/** Runs SQL on the file, and leaves the checksums of all rows as they were. */
export function changeRows(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  database.exec(sql)
  database.close()
}

/** The same, and gives all rows of the table the checksums that they should have. */
export function changeSoundRows(path: string, table: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  defineRowSum(database)
  database.exec(sql)
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'sum'`).all()
  database.exec(`UPDATE ${table} SET sum = row_sum('${table}', ${columns.map(({ name }) => name).join(', ')})`)
  database.close()
}
