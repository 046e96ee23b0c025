/** Sends statements by name over one connection, and reads rows as arrays of plain values. */

import type { CustomTypesConfig, PoolClient } from 'pg'
import { PostgresRows } from './postgres-rows.ts'
import type { Reading, Result, Row, Statement } from './sender.ts'
import { STATEMENTS } from './statements.ts'

/** Object identifiers of types, as PostgreSQL has them since ever. */
const BOOLEAN = 16
const BYTES = 17
const INTEGERS: readonly number[] = [20, 21, 23]

const VALUES: CustomTypesConfig = {
  getTypeParser(type: number) {
    if (INTEGERS.includes(type)) return readInteger
    if (type === BYTES) return readBytes
    if (type === BOOLEAN) return (text: string) => text === 't'
    return (text: string) => text
  },
}

function readInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is no integer that can be kept exactly.`)
  return value
}

/** In hexadecimal, unless the database is set to `bytea_output = escape`. */
function readBytes(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex')
  const plain = text.replaceAll(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  )
  return Buffer.from(plain, 'latin1')
}

interface Asked {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

export interface RowsOptions {
  readonly texts: StatementTexts
  /** A statement is parsed and planned once a connection, which saves more than half of its cost. */
  readonly isPreparing: boolean
  /** How long a statement may take. */
  readonly statementMs: number
}

export class Rows implements Reading {
  /** The same as rows of the tables. */
  readonly tables: PostgresRows = new PostgresRows(this)
  readonly #client: PoolClient
  readonly options: RowsOptions

  constructor(client: PoolClient, options: RowsOptions) {
    this.#client = client
    this.options = options
  }

  async send(statement: Statement, ...values: readonly unknown[]): Promise<Result> {
    const { name, text } = this.options.texts.of(statement)
    const prepared = this.options.isPreparing ? { name } : {}
    const result = await this.#client.query({ ...prepared, text, values: [...values], rowMode: 'array', types: VALUES })
    return { rows: result.rows, count: result.rowCount ?? 0, command: result.command }
  }

  /** Sends several statements that only read, and hands over the rows of each, in order, until one fails. */
  async together(asked: readonly Asked[], onFound: (rows: readonly Row[]) => void): Promise<void> {
    if (!this.options.isPreparing) {
      for (const { statement, values } of asked) onFound(await this.all(statement, ...values))
      return
    }
    const answers = asked.map(({ statement, values }) => this.all(statement, ...values))
    // After a failure nobody waits for the others.
    for (const answer of answers) answer.catch(() => {})
    for (const answer of answers) onFound(await answer)
  }

  async all(statement: Statement, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.send(statement, ...values)).rows
  }

  async first(statement: Statement, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.send(statement, ...values)).rows[0]
  }

  /** The rows of a text without parameters. */
  async query(text: string): Promise<readonly Row[]> {
    return (await this.#client.query({ text, rowMode: 'array', types: VALUES })).rows
  }

  /** Text without parameters, such as BEGIN. It may hold several statements; the command is that of the last. */
  async execute(text: string): Promise<string> {
    const results: unknown = await this.#client.query(text)
    const last = Array.isArray(results) ? results.at(-1) : results
    return String(last.command)
  }
}

/** The texts of statements for the tables of a schema, and the names under which they are prepared. */
export class StatementTexts {
  readonly #schema: string
  readonly #hasCitus: boolean
  readonly #known = new Map<Statement, { readonly name: string; readonly text: string }>()

  constructor(schema: string, hasCitus: boolean) {
    this.#schema = schema
    this.#hasCitus = hasCitus
  }

  of(statement: Statement): { readonly name: string; readonly text: string } {
    let known = this.#known.get(statement)
    if (known === undefined) {
      const { name, sql } = typeof statement === 'string' ? { name: statement, ...STATEMENTS[statement] } : statement
      const text = sql
        .replaceAll(/@citus\((.*?)\)/g, this.#hasCitus ? '$1' : '')
        .replaceAll(/@(?=[a-z])/g, `"${this.#schema}".`)
      known = { name: `reams_${name}`, text }
      this.#known.set(statement, known)
    }
    return known
  }
}
