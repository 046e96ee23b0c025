/** SQL on a connection. Each statement is prepared once, and rows are arrays: naming the columns in every row costs more than reading them. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { damagedCollection } from '../../collection-rules.ts'

export type Row = readonly SQLOutputValue[]

export class Statements {
  /** Reports a damaged row. Throws by default; `verify` collects instead. */
  readonly reportDamage: (collection: string | undefined, message: string) => void
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync, reportDamage = refuseDamage) {
    this.#database = database
    this.reportDamage = reportDamage
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** Runs `read` in one snapshot: that of the transaction, where there is one. */
  inSnapshot<T>(read: () => T): T {
    if (this.isInTransaction) return read()
    this.run('BEGIN')
    try {
      const result = read()
      this.run('COMMIT')
      return result
    } catch (error) {
      if (this.isInTransaction) this.run('ROLLBACK')
      throw error
    }
  }

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

function refuseDamage(collection: string | undefined, message: string): void {
  throw damagedCollection(collection, message)
}
