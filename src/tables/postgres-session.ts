/** A connection to a database of PostgreSQL that rows are read from: one moment at a time, with settings that do not vary. */

import { Client, type QueryArrayConfig, type QueryArrayResult } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { type OwnedBytes, own } from '../items/owned-bytes.ts'
import { PostgresUrlError } from '../postgres/postgres-error.ts'
import { type PostgresUrl, readPostgresUrl } from '../postgres/postgres-url.ts'
import { MONEY_DIGITS } from './postgres-json.ts'
import { TableError } from './table.ts'

const CONNECT_MS = 10_000
const KEEP_ALIVE_MS = 10_000

/** So that the same rows are the same bytes, whatever the role or the database has set; and nothing ends it but the user. */
const SETTINGS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  lc_monetary: 'C',
  xmlbinary: 'base64',
  quote_all_identifiers: 'off',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

const SET_LOCAL = Object.entries(SETTINGS).map(([name, value]) => `SET LOCAL ${name} = '${value}'`)

/** Quotes and escapes that JSON text never holds: so it comes as it is, but for values with a line break in them. */
const QUOTE = 1
const COPY_FORMAT = `(FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01', ESCAPE E'\\x01', ENCODING 'UTF8')`

function readUrl(url: string): PostgresUrl {
  try {
    return readPostgresUrl(url, 'the source')
  } catch (error) {
    throw error instanceof PostgresUrlError ? new TableError('usage', error.message, { cause: error }) : error
  }
}

export class PostgresSession {
  /** What messages call the database: never with the password. */
  readonly label: string
  readonly #client: Client
  readonly #signal: AbortSignal

  /** When `signal` is aborted, everything fails. */
  constructor(url: string, signal: AbortSignal) {
    const { label, connection } = readUrl(url)
    this.label = label
    this.#signal = signal
    this.#client = new Client({
      connectionTimeoutMillis: CONNECT_MS,
      ...connection,
      application_name: connection.application_name ?? 'reams',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    })
    // Whoever waits for an answer is told as well.
    this.#client.on('error', () => {})
    signal.addEventListener('abort', () => this.hangUp(), { once: true })
  }

  async connect(): Promise<void> {
    this.#signal.throwIfAborted()
    await this.#client.connect()
  }

  /** Several statements, without an answer. */
  async run(...statements: readonly string[]): Promise<void> {
    await this.#client.query(statements.join('; '))
  }

  /** By the protocol that takes one statement and no more. */
  ask(text: string, ...values: readonly unknown[]): Promise<QueryArrayResult> {
    const question: QueryArrayConfig & { readonly queryMode: 'extended' } = {
      text,
      values: [...values],
      rowMode: 'array',
      queryMode: 'extended',
    }
    return this.#client.query(question)
  }

  /** To be asked before `begin`, which sets another lc_monetary. */
  async moneyDigits(): Promise<number> {
    const { rows } = await this.ask(MONEY_DIGITS)
    return Number(rows[0]?.[0])
  }

  /**
   * One moment for all that is read, with the settings above and these. `tables` are locked before it: one who empties a table
   * empties it for earlier moments too.
   */
  async begin(mode: 'READ ONLY' | 'READ WRITE', tables: readonly string[], ...settings: string[]): Promise<void> {
    await this.run(`BEGIN ISOLATION LEVEL REPEATABLE READ, ${mode}`, ...SET_LOCAL, ...settings)
    if (tables.length > 0) await this.run(`LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`)
  }

  /** The rows of a query with a single column of JSON, one on each line. */
  copy(select: string): AsyncIterable<OwnedBytes> {
    return withoutQuotes(this.#client.query(copyTo(`COPY (${select}) TO STDOUT ${COPY_FORMAT}`)))
  }

  async end(): Promise<void> {
    await this.#client.end()
  }

  hangUp(): void {
    this.#client.connection.stream.destroy()
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** Values stand in quotes that have a line break between two tokens, as a column of type json may: it becomes a blank. */
export async function* withoutQuotes(chunks: AsyncIterable<Buffer>): AsyncGenerator<OwnedBytes> {
  let isQuoted = false
  for await (const chunk of chunks) {
    if (!isQuoted && !chunk.includes(QUOTE)) {
      yield own(chunk)
      continue
    }
    const bytes = new Uint8Array(chunk.length)
    let length = 0
    for (const byte of chunk)
      if (byte === QUOTE) isQuoted = !isQuoted
      else bytes[length++] = isQuoted && (byte === LINE_FEED || byte === CARRIAGE_RETURN) ? SPACE : byte
    yield own(bytes.subarray(0, length))
  }
}
