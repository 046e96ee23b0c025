/** Makes the tables of a new store, safely when several processes start at once; refuses what is not a store of this format. */

import { setTimeout as sleep } from 'node:timers/promises'
import { stateOf } from '../../postgres/postgres-error.ts'
import { readProgramText } from '../../program-files/program-files.ts'
import { checkFormat, FORMAT_VERSION, missingStore, StoreError } from '../store-error.ts'
import type { Rows } from './rows/rows.ts'
import type { Connections } from './server/connection.ts'
import type { StoreUrl } from './server/store-url.ts'

const OLDEST_SERVER = 15

/** Others that make the same thing at the same time: to be tried again. */
const CROSSED: readonly string[] = ['23505', '42P06', '42P07', '42710', '40001', '40P01', 'XX000']

const SCHEMA = 'store/postgres/schema.sql'
/** For a database with the extension Citus, after that. */
const SCHEMA_ON_CITUS = 'store/postgres/schema-on-citus.sql'

/**
 * A replaced ream leaves as many dead rows in the TOAST table as it has. By default autovacuum waits for a fifth of that table, and
 * pauses too often to keep up. Stores of earlier versions get these settings when they are opened.
 */
const TUNING = [
  'toast.autovacuum_vacuum_threshold = 1000',
  'toast.autovacuum_vacuum_scale_factor = 0.01',
  'toast.autovacuum_vacuum_cost_delay = 0',
]
const TUNING_MS = 1_000

const MAX_TRIES = 20
const PAUSE_MS = 100

/** The server and the schema, as one query finds them. */
interface Found {
  readonly serverVersion: number
  readonly encoding: string
  readonly hasSchema: boolean
  readonly isStore: boolean
  readonly isEmpty: boolean
  readonly hasCitus: boolean
  /** The settings are missing, and this role can make them here. */
  readonly canTune: boolean
  readonly database: string
}

/** Makes sure that the schema holds a store. One that is refused is left as it was. */
export async function prepareStore(
  connections: Connections,
  url: StoreUrl,
  mayCreate: boolean,
): Promise<Pick<Found, 'hasCitus'>> {
  for (let tries = 1; ; tries++) {
    try {
      const found = await connections.lend((rows) => prepare(rows, url, mayCreate))
      if (found.canTune) await tune(connections, url)
      return found
    } catch (error) {
      if (tries === MAX_TRIES || !CROSSED.includes(stateOf(error) ?? '')) throw error
      await sleep(PAUSE_MS * Math.random())
    }
  }
}

async function prepare(rows: Rows, url: StoreUrl, mayCreate: boolean): Promise<Found> {
  const found = await look(rows, url)
  checkServer(found, url)
  if (found.isStore && (await isMade(rows, url))) return found
  if (!found.isStore && found.hasSchema && !found.isEmpty)
    throw new StoreError(
      'not-a-store',
      `The schema "${url.schema}" of ${url.label} is not a Reams store: it contains the tables of another application. Name another one with ?schema=.`,
    )
  if (!found.isStore && !mayCreate) throw missingStore(url.label, `'${url.label}'`)
  if (found.hasCitus && (await isWorker(rows)))
    throw new StoreError(
      'unsupported',
      `${url.label} is a worker of Citus. Use the coordinator to create a store; after that the workers can do everything else.`,
    )
  try {
    if (!found.isStore) await makeVersionTable(rows, url.schema, found.hasSchema)
    await runSchema(rows, url, found.hasCitus)
    return found
  } catch (error) {
    if (stateOf(error) === '42501') throw missingRights(error, url, found)
    throw error
  }
}

async function look(rows: Rows, { schema }: StoreUrl): Promise<Found> {
  // Only the catalogue is looked at: everybody may.
  const relations = `FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('${schema}')`
  const [row] = await rows.query(`
    SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_encoding'),
      to_regnamespace('${schema}') IS NOT NULL, EXISTS (
        SELECT 1 FROM pg_catalog.pg_attribute WHERE attname = 'version' AND attrelid IN (
          SELECT oid ${relations} AND relname = 'reams_format')),
      NOT EXISTS (SELECT 1 ${relations}), EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'),
      NOT pg_is_in_recovery() AND EXISTS (
        SELECT 1 FROM pg_catalog.pg_class r JOIN pg_catalog.pg_class t ON t.oid = r.reltoastrelid
        WHERE r.relnamespace = to_regnamespace('${schema}') AND r.relname = 'ream' AND t.reloptions IS NULL
          AND pg_has_role(r.relowner, 'USAGE')),
      current_database()::text`)
  const [serverVersion, encoding, hasSchema, isStore, isEmpty, hasCitus, canTune, database] = row as [
    ...[number, string, boolean, boolean, boolean, boolean, boolean],
    string,
  ]
  return { serverVersion, encoding, hasSchema, isStore, isEmpty, hasCitus, canTune, database }
}

/** Of Citus: the coordinator is group 0. */
async function isWorker(rows: Rows): Promise<boolean> {
  const [row] = await rows.query('SELECT groupid FROM pg_catalog.pg_dist_local_group')
  return Number(row?.[0]) !== 0
}

function checkServer({ serverVersion, encoding }: Found, { label }: StoreUrl): void {
  if (serverVersion < OLDEST_SERVER)
    throw new StoreError(
      'unsupported',
      `${label} is PostgreSQL ${serverVersion}; Reams needs ${OLDEST_SERVER} or newer.`,
    )
  if (encoding !== 'UTF8')
    throw new StoreError(
      'unsupported',
      `The database of ${label} has the encoding ${encoding}; Reams needs one that was created with ENCODING 'UTF8'.`,
    )
}

/** Whether the tables are there, of this format. */
async function isMade(rows: Rows, { schema, label }: Pick<StoreUrl, 'schema' | 'label'>): Promise<boolean> {
  const [row] = await rows.query(`SELECT coalesce(max(version), 0) FROM "${schema}".reams_format`)
  const version = Number(row?.[0])
  if (version > 0) checkFormat(label, version)
  return version > 0
}

/** It marks the schema as ours, and is what others wait for who make the same. */
async function makeVersionTable(rows: Rows, schema: string, hasSchema: boolean): Promise<void> {
  // Where the schema is there, the right to create another one is not needed.
  if (!hasSchema) await rows.execute(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
  await rows.execute(`CREATE TABLE IF NOT EXISTS "${schema}".reams_format (version integer PRIMARY KEY)`)
}

async function runSchema(rows: Rows, { schema, label }: StoreUrl, hasCitus: boolean): Promise<void> {
  // Statements follow one by one, and a busy machine can pause between two.
  const settings = `SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL search_path = "${schema}", public`
  await rows.execute(`BEGIN; ${settings}; LOCK TABLE reams_format IN EXCLUSIVE MODE`)
  try {
    // Read again under the lock: another process may have been here first.
    if (!(await isMade(rows, { schema, label }))) {
      for (const file of [SCHEMA, ...(hasCitus ? [SCHEMA_ON_CITUS] : [])]) await runFile(rows, file)
      await rows.execute(tuningOf(schema))
      await rows.execute(`INSERT INTO reams_format (version) VALUES (${FORMAT_VERSION})`)
    }
    await rows.execute('COMMIT')
  } catch (error) {
    await rows.execute('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Nothing depends on it but space: a store that cannot be tuned now is opened all the same. */
async function tune(connections: Connections, { schema }: StoreUrl): Promise<void> {
  await connections
    .lend(async (rows) => {
      await rows.execute(`BEGIN; SET LOCAL statement_timeout = ${TUNING_MS}`)
      await rows.execute(tuningOf(schema))
      await rows.execute('COMMIT')
    })
    .catch(() => {})
}

function tuningOf(schema: string): string {
  return `ALTER TABLE "${schema}".ream SET (${TUNING.join(', ')})`
}

/** Runs the statements of a file, one after the other: Citus takes no more than one change of a table at a time. */
async function runFile(rows: Rows, file: string): Promise<void> {
  for (const statement of statementsOf(readProgramText(file))) await rows.execute(statement)
}

function missingRights(
  error: unknown,
  { schema, label, connection }: StoreUrl,
  { hasSchema, database }: Found,
): StoreError {
  const reason = error instanceof Error ? error.message : String(error)
  const role = `"${connection.user}"`
  const grants = hasSchema
    ? `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role};`
    : `CREATE SCHEMA ${schema} AUTHORIZATION ${role}; or: GRANT CREATE ON DATABASE "${database}" TO ${role};`
  return new StoreError(
    'no-permission',
    `The store ${label} cannot be created: ${reason}. The owner of the database can allow it: ${grants}`,
    { cause: error },
  )
}

function statementsOf(sql: string): string[] {
  return sql.split(/;$/m).filter((statement) => /^\w/m.test(statement))
}
