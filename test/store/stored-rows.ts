/** The rows of a store, read and changed behind its back. Every engine offers these few operations, so the suites need no SQL. */

import { TABLES } from '../../src/store/tables.ts'

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
  /** Marks a generation as one that nobody can see any more. */
  addLeftover(collection: string, generationId: number): Promise<unknown>
  /** These return how many rows they changed. */
  update(table: string, collection: string, where: RowValues, set: RowValues): Promise<number>
  delete(table: string, collection: string, where: RowValues): Promise<number>
  /** Inserts copies of rows, with some other values. */
  copy(table: string, collection: string, where: RowValues, set: RowValues): Promise<number>
}

/** How an engine calls what belongs to no collection's rows in another one. */
interface SqlNames {
  execute(sql: string, values?: readonly RowValue[]): Promise<unknown[][]>
  /** The condition for the rows of a collection. */
  rowsOf(collection: string, table: string): string
  /** The column in front of a key, and its value for a collection. */
  ownerOf(collection: string): readonly [column: string, value: string]
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

  addLeftover(collection: string, generationId: number): Promise<unknown> {
    const [column, value] = this.#names.ownerOf(collection)
    const columns = `${column}, ${this.#names.generation}, base`
    return this.#names.execute(`INSERT INTO leftover (${columns}) VALUES (${value}, ${generationId}, 0)`)
  }

  update(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    return this.#change(table, collection, where, set, (values) => `UPDATE ${table} SET ${values.join(', ')}`)
  }

  delete(table: string, collection: string, where: RowValues): Promise<number> {
    return this.#change(table, collection, where, {}, () => `DELETE FROM ${table}`)
  }

  copy(table: string, collection: string, where: RowValues, set: RowValues): Promise<number> {
    const { ownerOf, generation, others } = this.#names
    const values = TABLES.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? []
    const columns = [ownerOf(collection)[0], generation, ...values, ...others]
    return this.#change(table, collection, where, set, (terms) => {
      const changed = new Map(terms.map((term) => term.split(' = ') as [string, string]))
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
