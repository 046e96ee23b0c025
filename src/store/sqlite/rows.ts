/** Statements prepared once and rows as arrays: naming the columns again in every row costs more than reading them. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

export type Row = readonly SQLOutputValue[]

export class Rows {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** The first row, if there is one. */
  get(sql: string, ...parameters: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...parameters) as Row | undefined
  }

  all(sql: string, ...parameters: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...parameters) as unknown as Row[]
  }

  each(sql: string, ...parameters: SQLInputValue[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...parameters) as unknown as Iterable<Row>
  }

  /** Runs a statement and tells how many rows it changed. */
  run(sql: string, ...parameters: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...parameters).changes)
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
