/** Sends statements by name over one connection, and reads rows as arrays of plain values. */

import type { Connection, CustomTypesConfig, PoolClient, Submittable } from 'pg'
import { PostgresRows } from './postgres-rows.ts'
import type { Reading, Result, Row, Statement } from './sender.ts'
import { STATEMENTS } from './statements.ts'

type ReadValue = (text: string) => unknown

/** How the columns of each statement are read, once that is known. */
export type Columns = Map<string, readonly ReadValue[]>

interface PreparedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What the driver keeps of a connection. */
interface PreparingConnection extends Connection {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}

interface ReadQueryOptions {
  readonly statements: readonly PreparedStatement[]
  readonly columns: Columns
  /** Told the rows of each statement, in order, as soon as they are there. */
  readonly onFound: (rows: readonly Row[]) => void
}

/**
 * Prepared statements that read, several at once, sent with the least that the protocol takes: one write for all of
 * them, and what the columns are is asked for once and not with every page.
 */
class ReadQuery implements Submittable {
  /** The driver puts its own in front of it, for the time-out. */
  callback: (error?: unknown) => void
  readonly #options: ReadQueryOptions
  /** The statement whose answer comes now, and its rows so far. */
  #at = 0
  #rows: Row[] = []
  #failure: unknown

  constructor(options: ReadQueryOptions, callback: (error?: unknown) => void) {
    this.#options = options
    this.callback = callback
  }

  /** The driver remembers under this name what a connection has prepared. */
  get name(): string {
    return this.#options.statements[this.#at]?.name ?? ''
  }

  get text(): string {
    return this.#options.statements[this.#at]?.text ?? ''
  }

  submit(connection: Connection): void {
    const { stream } = connection
    stream.cork()
    for (const statement of this.#options.statements) this.#send(connection as PreparingConnection, statement)
    connection.sync()
    stream.uncork()
  }

  #send(connection: PreparingConnection, { name, text, values }: PreparedStatement): void {
    const { parsedStatements, submittedNamedStatements } = connection
    if (!(name in parsedStatements) && !(name in submittedNamedStatements)) {
      connection.parse({ name, text, types: [] }, true)
      submittedNamedStatements[name] = text
    }
    connection.bind({ statement: name, values: values.map(wireValue) }, true)
    if (!this.#options.columns.has(name)) connection.describe({ type: 'P', name: '' }, true)
    connection.execute({}, true)
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    const readers = fields.map(({ dataTypeID }) => VALUES.getTypeParser(dataTypeID))
    this.#options.columns.set(this.name, readers)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const readers = this.#options.columns.get(this.name) ?? []
    try {
      this.#rows.push(fields.map((field, index) => (field === null ? null : readers[index]?.(field))))
    } catch (error) {
      this.#failure ??= error
    }
  }

  handleCommandComplete(): void {
    const rows = this.#rows
    this.#at++
    this.#rows = []
    if (this.#failure === undefined) this.#options.onFound(rows)
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure)
  }

  /** What comes behind a statement that fails is skipped: it was not prepared, although that was asked for. */
  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as PreparingConnection
    for (const { name } of this.#options.statements.slice(this.#at)) delete submittedNamedStatements[name]
    this.callback(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

/** What the statements of reads take: numbers, texts and bytes. */
function wireValue(value: unknown): string | Buffer | null {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value
  if (typeof value === 'number') return String(value)
  throw new TypeError(`A ${typeof value} is no value of a statement that reads.`)
}

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
  /** On a connection for reads alone: what is known of the columns of its statements. */
  readonly columns: Columns | undefined
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
    const { columns, isPreparing } = this.options
    if (columns !== undefined && isPreparing) await this.#readPrepared(asked, columns, onFound)
    else for (const { statement, values } of asked) onFound(await this.all(statement, ...values))
  }

  #readPrepared(asked: readonly Asked[], columns: Columns, onFound: (rows: readonly Row[]) => void): Promise<void> {
    const { texts } = this.options
    const statements = asked.map(({ statement, values }) => ({ ...texts.of(statement), values }))
    return new Promise((resolve, reject) => {
      const onEnd = (error?: unknown) => (error ? reject(error) : resolve())
      this.#client.query(new ReadQuery({ statements, columns, onFound }, onEnd))
    })
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
