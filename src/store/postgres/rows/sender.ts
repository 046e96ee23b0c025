/** What sends statements to the database: a connection, a transaction, or reads that share a connection. */

import type { StatementName } from './statements.ts'
import type { TableStatement } from './table-statements.ts'

export type Row = readonly unknown[]

/** One of STATEMENTS, or one that is made for a table. */
export type Statement = StatementName | TableStatement

/** What can be asked for in single statements. */
export interface Reading {
  all(statement: Statement, ...values: readonly unknown[]): Promise<readonly Row[]>
  first(statement: Statement, ...values: readonly unknown[]): Promise<Row | undefined>
}

export interface Result {
  readonly rows: readonly Row[]
  /** Rows that the statement changed, or found. */
  readonly count: number
  /** What the server says it did: COMMIT, or ROLLBACK instead. */
  readonly command: string
}

/** In a transaction: a write need not be awaited, because the commit fails if it did. */
export interface Writing extends Reading {
  write(statement: Statement, ...values: readonly unknown[]): Promise<Result>
}
