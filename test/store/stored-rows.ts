/** The rows of a store, read and changed behind its back. Every engine offers these few operations, so the suites need no SQL. */

import * as tables from '../../src/store/tables.ts'

export type RowValue = number | string | Uint8Array | null
export type RowValues = Readonly<Record<string, RowValue>>

/**
 * Tables and columns have the names of `src/store/tables.ts`, and those of `head`, `lease`, `leftover`, `request_log` and `following`.
 * In all of them `generationId` is the generation that a row belongs to. `where` names values that the rows have.
 */
export interface StoredRows {
  /** How many rows a collection has, or all collections together. */
  count(table: string, collection?: string): Promise<number>
  /** The values of one column, sorted. An engine may return numbers as text. */
  values(table: string, column: string, collection?: string): Promise<readonly RowValue[]>
  insert(table: string, collection: string, values: RowValues): Promise<unknown>
  /** These return how many rows they changed. */
  update(table: string, collection: string, where: RowValues, set: RowValues): Promise<number>
  delete(table: string, collection: string, where: RowValues): Promise<number>
  /** Inserts copies of rows, with some other values. */
  copy(table: string, collection: string, where: RowValues, set: RowValues): Promise<number>
}

/** The same columns in the order of `tables.ts`. */
export function columnsOf(name: string): string[] {
  const table = Object.values(tables).find((each) => typeof each === 'object' && each.name === name)
  return typeof table === 'object' ? table.columns.map((column) => column.name) : []
}

/** How an engine calls what belongs to no collection's rows in another one. */
interface SqlNames {
  execute(sql: string, values?: readonly RowValue[]): Promise<unknown[][]>
  /** The condition for the rows of a collection. */
  rowsOf(collection: string, table: string): string
  /** The columns that say what a row belongs to, each with its value for a collection. */
  ownerOf(collection: string): Readonly<Record<string, string>>
  /** The column for `generationId`. */
  readonly generation: string
  /** Other columns of rows of a generation. */
  readonly others: readonly string[]
}

/** The operations in SQL. */
export class SqlStoredRows implements StoredRows {
  readonly #names: SqlNames

  constructor(names: SqlNames) {
    this.#names = names
  }

  async count(table: string, collection?: string): Promise<number> {
    const own = collection === undefined ? 'true' : this.#names.rowsOf(collection, table)
    const [[count] = []] = await this.#names.execute(`SELECT count(*) FROM ${table} WHERE ${own}`)
    return Number(count)
  }

  async values(table: string, column: string, collection?: string): Promise<readonly RowValue[]> {
    const own = collection === undefined ? 'true' : this.#names.rowsOf(collection, table)
    const sql = `SELECT ${this.#columnOf(column)} FROM ${table} WHERE ${own} ORDER BY 1`
    return (await this.#names.execute(sql)).flat() as RowValue[]
  }

  insert(table: string, collection: string, values: RowValues): Promise<unknown> {
    const owner = this.#names.ownerOf(collection)
    const columns = [...Object.keys(owner), ...Object.keys(values).map((column) => this.#columnOf(column))]
    const placed = [...Object.values(owner), ...Object.keys(values).map((_, index) => `$${index + 1}`)]
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placed.join(', ')})`
    return this.#names.execute(sql, Object.values(values))
  }

  update(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    return this.#change(table, collection, where, set, (values) => `UPDATE ${table} SET ${values.join(', ')}`)
  }

  delete(table: string, collection: string, where: RowValues): Promise<number> {
    return this.#change(table, collection, where, {}, () => `DELETE FROM ${table}`)
  }

  copy(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    const { ownerOf, generation, others } = this.#names
    const columns = [...Object.keys(ownerOf(collection)), generation, ...columnsOf(table), ...others]
    return this.#change(table, collection, where, set, (values) => {
      const changed = new Map(values.map((value) => value.split(' = ') as [string, string]))
      const selected = columns.map((column) => changed.get(column) ?? column)
      return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${selected.join(', ')} FROM ${table}`
    })
  }

  /** `statement` gets what is set, as `column = $1`. */
  async #change(
    table: string,
    collection: string,
    where: RowValues,
    set: RowValues,
    statement: (values: readonly string[]) => string,
  ): Promise<number> {
    const names = [...Object.keys(set), ...Object.keys(where)]
    const terms = names.map((name, index) => `${this.#columnOf(name)} = $${index + 1}`)
    const count = Object.keys(set).length
    const conditions = [...terms.slice(count), this.#names.rowsOf(collection, table)].join(' AND ')
    const sql = `${statement(terms.slice(0, count))} WHERE ${conditions} RETURNING 1`
    return (await this.#names.execute(sql, [...Object.values(set), ...Object.values(where)])).length
  }

  #columnOf(name: string): string {
    return name === 'generationId' ? this.#names.generation : name
  }
}
