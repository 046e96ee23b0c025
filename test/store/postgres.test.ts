import { after, describe } from 'node:test'
import { CITUS, NO_CITUS } from './citus-server.ts'
import { describeStore } from './describe-store.ts'
import { startGermanPostgres } from './german-postgres.ts'
import { newSchema, openPostgresForTest, runSql } from './postgres-engine.ts'
import type { PostgresServer } from './postgres-server.ts'

/** What somebody may have set for a database, and what a store in it does not rely on. */
const SETTINGS = [
  "bytea_output = 'escape'",
  "idle_in_transaction_session_timeout = '100ms'",
  "default_transaction_isolation = 'serializable'",
  'standard_conforming_strings = off',
  "search_path = 'nowhere'",
]

describe('a store in a PostgreSQL that speaks German, in a database with settings of its own', () => {
  const database = newSchema()
  let starting: Promise<PostgresServer> | undefined

  const start = async (): Promise<PostgresServer> => {
    const server = await startGermanPostgres()
    await runSql(server.url, '', `CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`)
    for (const setting of SETTINGS) await runSql(server.url, '', `ALTER DATABASE ${database} SET ${setting}`)
    return server
  }
  const open = async () => {
    starting ??= start()
    const { url } = await starting
    return openPostgresForTest({ url: Object.assign(new URL(url), { pathname: database }).href })
  }

  describeStore('postgres', { open }, { isShort: true })
  after(async () => {
    const server = await starting
    await runSql(server?.url ?? '', '', `DROP DATABASE ${database} WITH (FORCE)`)
    await server?.stop()
  })
})

describe('a store in Citus', { skip: NO_CITUS }, () => {
  describeStore('citus', { open: () => openPostgresForTest(CITUS) })
})
