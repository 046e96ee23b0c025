/** Reads a table or a query of PostgreSQL: all rows of one moment, as JSON that PostgreSQL itself writes. */

import type { OwnedBytes } from '../items/owned-bytes.ts'
import { explainPostgresError } from './postgres-errors.ts'
import { jsonColumn, rowAsJson } from './postgres-json.ts'
import { findRelation, readableTables } from './postgres-relation.ts'
import { PostgresSession } from './postgres-session.ts'
import { quoted } from './quoted.ts'
import type { RowsChoice, Table } from './table.ts'

/** Whether it has Citus, and a setting that came with version 17. */
const SERVER = `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'),
  current_setting('server_version_num')::int >= 170000`
/** It keeps the rows aside, however many. */
const CITUS_LIMIT = 'SET LOCAL citus.max_intermediate_result_size = -1'

export async function openPostgresTable(url: string, choice: RowsChoice, signal: AbortSignal): Promise<Table> {
  const session = new PostgresSession(url, signal)
  const table = new PostgresTable(session, choice)
  try {
    await session.connect()
    await table.describe()
    return table
  } catch (error) {
    session.hangUp()
    signal.throwIfAborted()
    throw table.explain(error)
  }
}

export async function listPostgresTables(url: string, signal: AbortSignal): Promise<readonly string[]> {
  const session = new PostgresSession(url, signal)
  try {
    await session.connect()
    return await readableTables(session)
  } catch (error) {
    signal.throwIfAborted()
    throw explainPostgresError(error, {}, session.label)
  } finally {
    session.hangUp()
  }
}

class PostgresTable implements Table {
  columns: readonly string[] = []
  primaryKey: readonly string[] = []
  estimatedRows: number | undefined
  readonly #session: PostgresSession
  readonly #choice: RowsChoice
  /** One statement, and nothing else: a part of COPY, where more would be done. */
  #select = ''
  readonly #settings: string[] = []
  #locks: readonly string[] = []

  constructor(session: PostgresSession, choice: RowsChoice) {
    this.#session = session
    this.#choice = choice
  }

  /** Finds out what there is, before anything is read. */
  async describe(): Promise<void> {
    const { table = '', query, order } = this.#choice
    // Functions may be run to plan a query: they must not write either.
    await this.#session.run('BEGIN READ ONLY')
    const relation = query === undefined ? await findRelation(this.#session, table) : undefined
    this.primaryKey = relation?.primaryKey ?? []
    // A comment at the end of a query ends with the line.
    const from = relation?.name ?? `(\n${query}\n) AS q`
    const { fields } = await this.#session.ask(`SELECT ${relation ? '*' : 'q.*'} FROM ${from} LIMIT 0`)
    const columns = fields.map(jsonColumn)
    this.columns = columns.map(({ name }) => name)
    // Whatever follows an order is a second clause here, and refused.
    if (order !== undefined)
      await this.#session.ask(`EXPLAIN SELECT * FROM ${from} ORDER BY ${order}\nLIMIT ALL OFFSET 0`)
    const by = order ?? this.primaryKey.map(quoted).join(', ')
    const whole = relation === undefined ? `\n${query}\n` : `SELECT * FROM ${from}`
    const sorted = by === '' ? whole : `SELECT * FROM ${from} ORDER BY ${by}\n`
    const [[isCitus = false, hasTransactionTimeout = false] = []] = (await this.#session.ask(SERVER)).rows
    const json = rowAsJson('q', columns, await this.#session.moneyDigits())
    // Sorted before JSON is made of it, because the rows are smaller. Citus would lose the order, and the names of columns.
    // A mere q would be the column of that name, where there is one.
    this.#select = isCitus
      ? `WITH q AS MATERIALIZED (${sorted}) SELECT ${json} FROM q`
      : `SELECT ${json} FROM (${sorted}) AS q`
    if (isCitus) this.#settings.push(CITUS_LIMIT)
    if (hasTransactionTimeout) this.#settings.push('SET LOCAL transaction_timeout = 0')
    const { rows } = await this.#session.ask(`EXPLAIN (VERBOSE, FORMAT JSON) ${this.#select}`)
    const plan: Plan = rows[0]?.[0]?.[0]?.Plan ?? {}
    this.estimatedRows = plan['Plan Rows']
    this.#locks = await this.#lockable([...(relation ? [relation.name] : []), ...relationsIn(plan)])
    await this.#session.run('ROLLBACK')
  }

  async *rows(): AsyncIterable<OwnedBytes> {
    try {
      await this.#session.begin('READ ONLY', this.#locks, ...this.#settings)
      yield* this.#session.copy(this.#select)
      await this.#session.run('COMMIT')
      await this.#session.end()
    } catch (error) {
      throw this.explain(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.hangUp()
  }

  explain(error: unknown): unknown {
    return explainPostgresError(error, this.#choice, this.#session.label, this.columns)
  }

  async #lockable(names: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#session.ask(LOCKABLE, [...new Set(names)])
    return rows.map(([name]) => String(name))
  }
}

const LOCKABLE = `
  SELECT c.oid::regclass::text FROM pg_class c
  WHERE c.oid = ANY (SELECT pg_catalog.to_regclass(name)::oid FROM pg_catalog.unnest($1::text[]) name) AND c.relkind IN ('r', 'p')
    AND has_table_privilege(c.oid, 'SELECT')`

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
