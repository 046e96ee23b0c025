/** Statements made from the tables as they are declared, each with the checksums of its rows. */

import type { SQLInputValue } from 'node:sqlite'
import type { Range } from '../../rows.ts'
import type { Owner, Row, Table } from '../../tables.ts'
import { SummedTable } from './row-sum.ts'
import type { Row as SqlRow } from './statements.ts'

const OWNER_COLUMNS: { readonly [O in Owner]: readonly string[] } = {
  generation: ['collection_id', 'generation'],
  collection: ['collection_id'],
  shard: [],
  store: [],
}

const known = new Map<Table, TableStatements>()

export function statementsOf(table: Table): TableStatements {
  let statements = known.get(table)
  if (statements === undefined) {
    statements = new TableStatements(table)
    known.set(table, statements)
  }
  return statements
}

/** The statements of a table, each made once. */
export class TableStatements {
  readonly summed: SummedTable
  readonly keyWidth: number
  /** The column of the deflated bytes, or -1. */
  readonly deflated: number
  readonly get: string
  readonly all: string
  readonly put: string
  readonly remove: string
  readonly #owner: readonly string[]
  readonly #key: readonly string[]
  readonly #scans = new Map<number, string>()
  readonly #removals = new Map<number, string>()
  /** Where the row has the number of its generation once more. */
  readonly #generationId: number

  constructor({ name, owner, key, columns, title }: Table) {
    this.#owner = OWNER_COLUMNS[owner]
    this.#key = key.map((column) => column.name)
    this.keyWidth = key.length
    this.deflated = columns.findIndex(({ type }) => type === 'deflated')
    this.#generationId = columns.findIndex(({ type }) => type === 'generationId')
    const values = columns.slice(key.length).filter(({ type }) => type !== 'generationId')
    const ownerWidth = this.#owner.length
    this.summed = new SummedTable(
      name,
      [...this.#owner, ...this.#key].join(' '),
      values.map((column) => column.name).join(' '),
      (row) => title(row.slice(ownerWidth) as Row),
    )
    const whole = [...this.#owner, ...this.#key].map((column) => `${column} = ?`).join(' AND ')
    this.get = `SELECT ${this.summed.select(ownerWidth + key.length)} FROM ${name} WHERE ${whole}`
    this.all = `SELECT ${this.summed.select(0)} FROM ${name}`
    this.put = this.summed.put()
    this.remove = `DELETE FROM ${name} WHERE ${whole}`
  }

  /** A row of the table, out of what a statement selected after `key` and before the checksum. Takes over what was selected. */
  rowOf(selected: SqlRow, key: Row): Row {
    // The cast: SQLite made the list for this caller alone.
    const values = selected as Row[number][]
    values.pop()
    const row = key.length === 0 ? values : [...key, ...values]
    if (this.#generationId !== -1) row.splice(this.#generationId, 0, row[0] ?? null)
    return row
  }

  storedRow(row: Row): SQLInputValue[] {
    const stored = this.#generationId === -1 ? row : row.toSpliced(this.#generationId, 1)
    return stored as SQLInputValue[]
  }

  scan(range: Range): string {
    return cached(this.#scans, shapeOf(range), () => {
      const order = this.#key.map((column) => `${column}${range.isReverse ? ' DESC' : ''}`)
      const selected = this.summed.select(this.#owner.length)
      // A sign before the parameter of a LIMIT keeps SQLite from preparing the statement again each time.
      return `SELECT ${selected} FROM ${this.summed.name} WHERE ${this.#conditions(range)} ORDER BY ${order.join(', ')} LIMIT +?`
    })
  }

  removeRange(range: Range): string {
    const { limit } = range
    return cached(this.#removals, shapeOf(range), () => {
      const conditions = this.#conditions(range)
      const { name } = this.summed
      if (limit === undefined) return `DELETE FROM ${name} WHERE ${conditions}`
      const key = [...this.#owner, ...this.#key].join(', ')
      return `DELETE FROM ${name} WHERE (${key}) IN (
        SELECT ${key} FROM ${name} WHERE ${conditions} ORDER BY ${this.#key.join(', ')} LIMIT +?)`
    })
  }

  #conditions({ at = [], from = [], to = [] }: Range): string {
    const equal = [...this.#owner, ...this.#key.slice(0, at.length)].map((column) => `${column} = ?`)
    const compare = (values: Row, sign: string): string[] => {
      const columns = this.#key.slice(at.length, at.length + values.length)
      if (columns.length === 0) return []
      const places = columns.map(() => '?').join(', ')
      return columns.length === 1 ? [`${columns[0]} ${sign} ?`] : [`(${columns.join(', ')}) ${sign} (${places})`]
    }
    return [...equal, ...compare(from, '>='), ...compare(to, '<')].join(' AND ')
  }
}

function cached(texts: Map<number, string>, shape: number, make: () => string): string {
  let text = texts.get(shape)
  if (text === undefined) {
    text = make()
    texts.set(shape, text)
  }
  return text
}

/** All that its statement depends on. No key has as many as eight columns. */
function shapeOf({ at, from, to, limit, isReverse }: Range): number {
  const widths = (at?.length ?? 0) | ((from?.length ?? 0) << 3) | ((to?.length ?? 0) << 6)
  return widths | (isReverse ? 1 << 9 : 0) | (limit === undefined ? 0 : 1 << 10)
}
