/**
 * Prepared statements that read, several at once, sent with the least that the protocol takes: one write for all of
 * them, and what the columns are is asked for once and not with every page.
 */

import type { Connection, Submittable } from 'pg'

export type Row = readonly unknown[]

type ReadValue = (text: string) => unknown

/** How the columns of each statement are read, once that is known. */
export type Columns = Map<string, readonly ReadValue[]>

export interface PreparedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** What the driver keeps of a connection. */
interface PreparingConnection extends Connection {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
}

export interface ReadQueryOptions {
  readonly statements: readonly PreparedStatement[]
  readonly columns: Columns
  readonly readerOf: (type: number) => ReadValue
  /** Told the rows of each statement, in order, as soon as they are there. */
  readonly onFound: (rows: readonly Row[]) => void
}

export class ReadQuery implements Submittable {
  /** The driver puts its own in front of it, for the time-out. */
  callback: (error?: unknown) => void
  readonly #statements: readonly PreparedStatement[]
  readonly #columns: Columns
  readonly #readerOf: (type: number) => ReadValue
  readonly #onFound: (rows: readonly Row[]) => void
  /** The statement whose answer comes now, and its rows so far. */
  #at = 0
  #rows: Row[] = []
  #failure: unknown

  constructor({ statements, columns, readerOf, onFound }: ReadQueryOptions, callback: (error?: unknown) => void) {
    this.callback = callback
    this.#statements = statements
    this.#columns = columns
    this.#readerOf = readerOf
    this.#onFound = onFound
  }

  /** The driver remembers under this name what a connection has prepared. */
  get name(): string {
    return this.#statements[this.#at]?.name ?? ''
  }

  get text(): string {
    return this.#statements[this.#at]?.text ?? ''
  }

  submit(connection: Connection): void {
    const { stream } = connection
    stream.cork()
    for (const statement of this.#statements) this.#send(connection as PreparingConnection, statement)
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
    if (!this.#columns.has(name)) connection.describe({ type: 'P', name: '' }, true)
    connection.execute({}, true)
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    const readers = fields.map(({ dataTypeID }) => this.#readerOf(dataTypeID))
    this.#columns.set(this.name, readers)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const readers = this.#columns.get(this.name) ?? []
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
    if (this.#failure === undefined) this.#onFound(rows)
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure)
  }

  /** What comes behind a statement that fails is skipped: it was not prepared, although that was asked for. */
  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as PreparingConnection
    for (const { name } of this.#statements.slice(this.#at)) delete submittedNamedStatements[name]
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
