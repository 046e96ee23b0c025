/** Makes the tables of a new store, safely when several processes start at once; refuses what is not a store of this format. */

import { setTimeout as sleep } from 'node:timers/promises'
import { readProgramText } from '../../program-files/program-files.ts'
import { checkFormat, FORMAT_VERSION, missingStore, StoreError } from '../store-error.ts'
import type { Rows } from './rows/rows.ts'
import type { Connections } from './server/connection.ts'
import { stateOf } from './server/explain-error.ts'
import type { StoreUrl } from './server/store-url.ts'

const OLDEST_SERVER = 15

/** Others that make the same thing at the same time: to be tried again. */
const CROSSED: readonly string[] = ['23505', '42P06', '42P07', '42710', '40001', '40P01', 'XX000']

const SCHEMA = 'store/postgres/schema.sql'
/** What follows where the extension Citus is there. */
const SCHEMA_ON_CITUS = 'store/postgres/schema-on-citus.sql'

/** What comes last, and is added to a store that lacks it. */
const TUNING = 'store/postgres/schema-tuning.sql'
const TUNED = 'request_log_oldest'

/** A role that only reads and writes rows may not tune, nor may anybody on a standby. Nothing depends on it but speed and space. */
const CANNOT_TUNE: readonly string[] = ['42501', '25006', '55P03', ...CROSSED]
const TUNING_LOCK_MS = 2_000

const MAX_TRIES = 20
const PAUSE_MS = 100

/** What is there, as one look tells. */
interface Found {
  readonly serverVersion: number
  readonly encoding: string
  readonly hasSchema: boolean
  readonly isStore: boolean
  readonly isEmpty: boolean
  readonly hasCitus: boolean
  readonly isTuned: boolean
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
      return await connections.lend((rows) => prepare(rows, url, mayCreate))
    } catch (error) {
      if (tries === MAX_TRIES || !CROSSED.includes(stateOf(error) ?? '')) throw error
      await sleep(PAUSE_MS * Math.random())
    }
  }
}

async function prepare(rows: Rows, url: StoreUrl, mayCreate: boolean): Promise<Found> {
  const found = await look(rows, url)
  checkServer(found, url)
  if (found.isStore && (await isMade(rows, url))) {
    if (!found.isTuned) await tune(rows, url, found.hasCitus)
    return found
  }
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
      EXISTS (SELECT 1 ${relations} AND relname = '${TUNED}'), current_database()::text`)
  const [serverVersion, encoding, hasSchema, isStore, isEmpty, hasCitus, isTuned, database] = row as [
    ...[number, string, boolean, boolean, boolean, boolean, boolean],
    string,
  ]
  return { serverVersion, encoding, hasSchema, isStore, isEmpty, hasCitus, isTuned, database }
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
async function isMade(rows: Rows, { schema, label }: StoreUrl): Promise<boolean> {
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

async function runSchema(rows: Rows, url: StoreUrl, hasCitus: boolean): Promise<void> {
  await underLock(rows, url, async () => {
    // Read again under the lock: another process may have been here first.
    if (await isMade(rows, url)) return
    for (const file of [SCHEMA, ...(hasCitus ? [SCHEMA_ON_CITUS] : []), TUNING]) await runFile(rows, file)
    await rows.execute(`INSERT INTO reams_format (version) VALUES (${FORMAT_VERSION})`)
  })
}

/** Adds to a store what this version has and the one that made it had not, if that can be done at once. */
async function tune(rows: Rows, url: StoreUrl, hasCitus: boolean): Promise<void> {
  if (hasCitus && (await isWorker(rows))) return
  try {
    await underLock(rows, url, async () => {
      await rows.execute(`SET LOCAL lock_timeout = ${TUNING_LOCK_MS}`)
      if (!(await look(rows, url)).isTuned) await runFile(rows, TUNING)
    })
  } catch (error) {
    if (!CANNOT_TUNE.includes(stateOf(error) ?? '')) throw error
  }
}

/** Commits changes of the schema that no other process makes meanwhile. */
async function underLock(rows: Rows, { schema }: StoreUrl, change: () => Promise<void>): Promise<void> {
  // Statements follow one by one, and a busy machine can pause between two.
  const settings = `SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL search_path = "${schema}", public`
  try {
    await rows.execute(`BEGIN; ${settings}; LOCK TABLE reams_format IN EXCLUSIVE MODE`)
    await change()
    await rows.execute('COMMIT')
  } catch (error) {
    await rows.execute('ROLLBACK').catch(() => {})
    throw error
  }
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
