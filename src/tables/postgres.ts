/** Reads a table or a query of PostgreSQL: all rows of one moment, as JSON that PostgreSQL itself writes. */

import { Client, type QueryArrayConfig } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { isConnectionLost, messageOf, stateOf } from '../store/postgres/server/explain-error.ts'
import { readPostgresUrl } from '../store/postgres/server/postgres-url.ts'
import { nameOf, type RowsChoice, type Table, TableError, type TableErrorKind, thereAre } from './table.ts'

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
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** One moment for all rows, and no query that writes. */
const BEGIN = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY',
  ...Object.entries(SETTINGS).map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
].join('; ')

/** Whether it has Citus, and a setting that came with version 17. */
const SERVER = `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'),
  current_setting('server_version_num')::int >= 170000`
/** It keeps the rows aside, however many. */
const CITUS_LIMIT = 'SET LOCAL citus.max_intermediate_result_size = -1'

/** Quotes and escapes that JSON text never holds: so it comes as it is, but for values with a line break in them. */
const QUOTE = 1
const COPY_FORMAT = `(FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01', ESCAPE E'\\x01', ENCODING 'UTF8')`

export async function openPostgresTable(url: string, choice: RowsChoice, signal: AbortSignal): Promise<Table> {
  const { label, connection } = readPostgresUrl(url, 'the source')
  const client = new Client({
    ...connection,
    application_name: connection.application_name ?? 'reams',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // Whoever waits for an answer is told as well.
  client.on('error', () => {})
  const table = new PostgresTable(client, choice, label)
  signal.addEventListener('abort', () => table.hangUp(), { once: true })
  try {
    signal.throwIfAborted()
    await client.connect()
    await table.describe()
    return table
  } catch (error) {
    table.hangUp()
    throw table.explain(error)
  }
}

interface Relation {
  /** Quoted as SQL wants it, with its schema. */
  readonly name: string
  readonly primaryKey: readonly string[]
}

class PostgresTable implements Table {
  columns: readonly string[] = []
  primaryKey: readonly string[] = []
  estimatedRows: number | undefined
  readonly #client: Client
  readonly #choice: RowsChoice
  readonly #label: string
  /** One statement, and nothing else: a part of COPY, where more would be done. */
  #select = ''
  #begin = BEGIN
  #locks: readonly string[] = []

  constructor(client: Client, choice: RowsChoice, label: string) {
    this.#client = client
    this.#choice = choice
    this.#label = label
  }

  /** Finds out what there is, before anything is read. */
  async describe(): Promise<void> {
    const { query, order } = this.#choice
    // Functions may be run to plan a query: they must not write either.
    await this.#client.query('BEGIN READ ONLY')
    const relation = query === undefined ? await this.#findRelation() : undefined
    this.primaryKey = relation?.primaryKey ?? []
    // A comment at the end of a query ends with the line.
    const from = relation?.name ?? `(\n${query}\n) AS q`
    const { fields } = await this.#ask(`SELECT ${relation ? '*' : 'q.*'} FROM ${from} LIMIT 0`)
    this.columns = fields.map(({ name }) => name)
    // Whatever follows an order is a second clause here, and refused.
    if (order !== undefined) await this.#ask(`EXPLAIN SELECT * FROM ${from} ORDER BY ${order}\nLIMIT ALL OFFSET 0`)
    const by = order ?? this.primaryKey.map(quoted).join(', ')
    const whole = relation === undefined ? `\n${query}\n` : `SELECT * FROM ${from}`
    const sorted = by === '' ? whole : `SELECT * FROM ${from} ORDER BY ${by}\n`
    const [[isCitus = false, hasTransactionTimeout = false] = []] = (await this.#ask(SERVER)).rows
    // Sorted before JSON is made of it, because the rows are smaller. Citus would lose the order, and the names of columns.
    this.#select = isCitus
      ? `WITH q AS MATERIALIZED (${sorted}) SELECT row_to_json(q) FROM q`
      : `SELECT row_to_json(q) FROM (${sorted}) AS q`
    if (isCitus) this.#begin += `; ${CITUS_LIMIT}`
    if (hasTransactionTimeout) this.#begin += '; SET LOCAL transaction_timeout = 0'
    const { rows } = await this.#ask(`EXPLAIN (VERBOSE, FORMAT JSON) ${this.#select}`)
    const plan: Plan = rows[0]?.[0]?.[0]?.Plan ?? {}
    this.estimatedRows = plan['Plan Rows']
    this.#locks = await this.#lockable([...(relation ? [relation.name] : []), ...relationsIn(plan)])
    await this.#client.query('ROLLBACK')
  }

  async *rows(): AsyncIterable<Uint8Array> {
    try {
      await this.#client.query(this.#begin)
      // Before the first look at the rows: one who empties a table empties it for earlier looks too.
      if (this.#locks.length > 0) await this.#client.query(`LOCK TABLE ${this.#locks.join(', ')} IN ACCESS SHARE MODE`)
      const copy = this.#client.query(copyTo(`COPY (${this.#select}) TO STDOUT ${COPY_FORMAT}`))
      yield* withoutQuotes(copy)
      await this.#client.query('COMMIT')
      await this.#client.end()
    } catch (error) {
      throw this.explain(error)
    }
  }

  hangUp(): void {
    this.#client.connection.stream.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp()
  }

  explain(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof TableError || isOurs(error)) return error
    const [kind, advice] = explanationOf(error, this.#choice, this.columns)
    const reason = messageOf(error).replace(/\.$/, '')
    return new TableError(kind, `${nameOf(this.#choice)} in ${this.#label}: ${reason}. ${advice}`, { cause: error })
  }

  /** By the protocol that takes one statement and no more. */
  #ask(text: string) {
    const question: QueryArrayConfig & { readonly queryMode: 'extended' } = {
      text,
      rowMode: 'array',
      queryMode: 'extended',
    }
    return this.#client.query(question)
  }

  async #findRelation(): Promise<Relation> {
    const { table = '' } = this.#choice
    const { rows } = await this.#client.query({
      text: FIND_RELATION,
      values: [table, ...partsOf(table)],
      rowMode: 'array',
    })
    const [name, kind, primaryKey] = rows[0] ?? []
    if (name === undefined) throw await this.#noSuchTable(table)
    if (!'rpvmf'.includes(kind)) throw new TableError('usage', `${table} in ${this.#label} is not a table or a view.`)
    return { name, primaryKey }
  }

  async #noSuchTable(table: string): Promise<TableError> {
    const { rows } = await this.#client.query({ text: READABLE_TABLES, rowMode: 'array' })
    const names = rows.map(([name]) => String(name))
    const others = thereAre(names, 'There is none that this role may read.')
    return new TableError('usage', `There is no table ${table} in ${this.#label}. ${others}`)
  }

  async #lockable(names: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#client.query({ text: LOCKABLE, values: [[...new Set(names)]], rowMode: 'array' })
    return rows.map(([name]) => String(name))
  }
}

/** As SQL would read the name; else as it stands, upper case included. */
const FIND_RELATION = `
  SELECT c.oid::regclass::text, c.relkind, ARRAY(
    SELECT a.attname::text FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(attnum, place), pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.place)
  FROM pg_class c
  WHERE c.oid = coalesce(
    (SELECT to_regclass($1) WHERE $1 ~ '^([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+")([.]([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+"))?$'),
    to_regclass(concat_ws('.', quote_ident($2), quote_ident($3))))`

const READABLE_TABLES = `
  SELECT c.oid::regclass::text FROM pg_class c, pg_namespace n
  WHERE n.oid = c.relnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
  ORDER BY 1 LIMIT 100`

const LOCKABLE = `
  SELECT c.oid::regclass::text FROM pg_class c
  WHERE c.oid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) name) AND c.relkind IN ('r', 'p')
    AND has_table_privilege(c.oid, 'SELECT')`

/** A schema, where there is one, and a name, as they stand. */
function partsOf(table: string): [string | null, string] {
  const dot = table.indexOf('.')
  return dot === -1 ? [null, table] : [table.slice(0, dot), table.slice(dot + 1)]
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

interface Plan {
  readonly 'Plan Rows'?: number
  readonly Schema?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

/** The tables that a plan reads. */
function relationsIn(plan: Plan): string[] {
  const { Schema: schema, 'Relation Name': name, Plans: plans = [] } = plan
  const own = schema === undefined || name === undefined ? [] : [`${quoted(schema)}.${quoted(name)}`]
  return [...own, ...plans.flatMap(relationsIn)]
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** Values stand in quotes that have a line break between two tokens, as a column of type json may: it becomes a blank. */
async function* withoutQuotes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let isQuoted = false
  for await (const chunk of chunks) {
    if (!isQuoted && !chunk.includes(QUOTE)) {
      yield chunk
      continue
    }
    const bytes = new Uint8Array(chunk.length)
    let length = 0
    for (const byte of chunk)
      if (byte === QUOTE) isQuoted = !isQuoted
      else bytes[length++] = isQuoted && (byte === LINE_FEED || byte === CARRIAGE_RETURN) ? SPACE : byte
    yield bytes.subarray(0, length)
  }
}

/** A mistake in this program, or the end that the user asked for. */
function isOurs(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError
}

type Explanation = readonly [TableErrorKind, string]

/** By SQLSTATE, or the first letters of it. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  '0A': ['usage', 'Check the query; it has to be one SELECT that only reads.'],
  '08P01': ['usage', 'Check the query; there are no values for parameters such as $1.'],
  '08': ['surroundings', 'The connection was lost. Try again.'],
  '22': ['data', 'A value of a row is at fault: correct it in the database, or leave it out with --query.'],
  '25001': ['usage', 'Only what changes nothing is run: give a query that reads.'],
  '25006': ['usage', 'Only what changes nothing is run: give a query that reads.'],
  '28': ['surroundings', 'Check the user and the password, which is read from the URL, PGPASSWORD or ~/.pgpass.'],
  '3D000': ['usage', 'Check the name of the database, at the end of the URL.'],
  '40001': ['surroundings', 'A standby had to catch up with its primary. Try again, or read from the primary.'],
  '42501': ['surroundings', 'Its owner can allow it: GRANT USAGE ON SCHEMA …; GRANT SELECT ON TABLE ….'],
  '42': ['usage', 'Check the query; it has to be one SELECT, without a second statement.'],
  '53': ['surroundings', 'The server is out of resources. Try again in a moment.'],
  '57014': ['surroundings', 'Somebody cancelled it on the server. Try again.'],
  '57P': ['surroundings', 'The server is stopping, or somebody ended the connection. Try again.'],
}

function explanationOf(error: Error, { table, order }: RowsChoice, columns: readonly string[]): Explanation {
  // A pooler has a code of its own for a wrong password.
  const state = /password authentication/.test(error.message) ? '28P01' : stateOf(error)
  if (state === undefined) return explainDriver(error)
  if (state === '42703' && columns.length > 0) return ['usage', thereAre(columns)]
  if (state.startsWith('42') && state !== '42501' && table !== undefined && order !== undefined)
    return ['usage', 'Check --order: it is what would follow ORDER BY.']
  const known = EXPLANATIONS[state] ?? EXPLANATIONS[state.slice(0, 3)] ?? EXPLANATIONS[state.slice(0, 2)]
  return known ?? ['surroundings', `This is SQLSTATE ${state}.`]
}

/** Errors that do not come from the server. */
function explainDriver(error: Error): Explanation {
  const message = messageOf(error)
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return ['surroundings', 'There is no host of this name: check the URL.']
  if (/ECONNREFUSED|ENOENT/.test(message))
    return [
      'surroundings',
      'Nothing listens there: check that the server is running, and the host and port in the URL.',
    ]
  if (/password/i.test(message)) return ['surroundings', 'Give it with PGPASSWORD or in ~/.pgpass.']
  if (/SSL|certificate/i.test(message)) return ['surroundings', 'Check sslmode and sslrootcert in the URL.']
  if (isConnectionLost(error)) return ['surroundings', 'The connection was lost. Try again.']
  return ['surroundings', 'Check that the server is running and can be reached, then try again.']
}
