/** Opens a table or a query in whatever database it is: the only place that picks a driver. */

import { checkColumns, nameOf, type RowsChoice, type Table } from './table.ts'

/** Where the rows are. */
export interface Database {
  readonly engine: 'postgres' | 'mysql' | 'file'
  /** What messages call it: never with the password. */
  readonly label: string
  /** Its URL or its path, with the password. */
  reveal(): string
}

/** When `signal` is aborted, reading fails with an error. */
export async function openTable(database: Database, choice: RowsChoice, signal: AbortSignal): Promise<Table> {
  const table = await open(database, choice, signal)
  try {
    checkColumns(table.columns, `${nameOf(choice)} in ${database.label}`)
    return table
  } catch (error) {
    await table[Symbol.asyncDispose]()
    throw error
  }
}

/** What can be read, each as a table is named to open it. */
export async function listTables(database: Database, signal: AbortSignal): Promise<readonly string[]> {
  const location = database.reveal()
  switch (database.engine) {
    case 'postgres':
      return (await import('./postgres.ts')).listPostgresTables(location, signal)
    case 'mysql':
      return (await import('./mysql.ts')).listMysqlTables(location, database.label, signal)
    case 'file':
      return (await import('./sqlite.ts')).listSqliteTables(location)
  }
}

/** The drivers take a while to load, and nobody needs two of them. */
async function open(database: Database, choice: RowsChoice, signal: AbortSignal): Promise<Table> {
  const location = database.reveal()
  switch (database.engine) {
    case 'postgres':
      return (await import('./postgres.ts')).openPostgresTable(location, choice, signal)
    case 'mysql':
      return (await import('./mysql.ts')).openMysqlTable(location, database.label, choice, signal)
    case 'file':
      return (await import('./sqlite.ts')).openSqliteTable(location, choice, signal)
  }
}
