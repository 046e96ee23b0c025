/** Opens stores in PostgreSQL for tests, each in a schema of its own that is dropped at the end. */

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { shardKeyOf } from '../../src/store/postgres/rows/head.ts'
import type { PostgresServer } from './postgres-server.ts'
import { SqlStoredRows } from './stored-rows.ts'
import type { StoreUnderTest, TestStore } from './test-store.ts'

export interface PostgresUnderTest extends StoreUnderTest {
  readonly url: string
  readonly schema: string
  /** Runs SQL on the tables behind the store's back. */
  execute(sql: string, values?: readonly unknown[]): Promise<unknown[][]>
  /** Has a view in the place of the table of reams meanwhile, with another expression for one of its columns. */
  withReamView(column: string, expression: string, use: () => Promise<void>): Promise<void>
  /** Locks the head of a collection, as a writer does, until the answer is called. */
  holdHead(name: string): Promise<() => Promise<void>>
}

export const newSchema = (): string => `reams_test_${randomBytes(6).toString('hex')}`

/** The condition for the rows of a collection. */
export const rowsOf = (collection: string): string => `shard_key = ${shardKeyOf(collection)}`

/** The URL with another parameter. */
export function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${value}`
}

export async function openPostgresForTest({ url: server }: Pick<PostgresServer, 'url'>): Promise<PostgresUnderTest> {
  const schema = newSchema()
  const url = withParameter(server, 'schema', schema)
  const store = await openPostgresStore({ url, create: true })
  const execute = (sql: string, values?: readonly unknown[]): Promise<unknown[][]> =>
    runSql(server, `SET search_path = ${schema}; SET default_transaction_read_only = off`, sql, values)
  return {
    store,
    url,
    location: url,
    schema,
    execute,
    rows: new SqlStoredRows({
      execute,
      rowsOf,
      ownerOf: (collection) => ['shard_key', `${shardKeyOf(collection)}`],
      generation: 'generation_id',
      others: [],
    }),
    async ageRequests(ms, keys) {
      const at = `now() - interval '${ms} milliseconds'`
      const chosen = keys === undefined ? '' : ' WHERE key = ANY ($1)'
      await execute(`UPDATE request_log SET at = ${at}${chosen}`, keys && [keys])
    },
    async ageStates(ms, collection, version) {
      const chosen = version === undefined ? '' : ` AND version = ${version}`
      await execute(`UPDATE state SET at = ${Date.now() - ms} WHERE ${rowsOf(collection)}${chosen}`)
    },
    async ageLeases() {
      await execute("UPDATE lease SET renewed_at = now() - interval '1 minute'")
    },
    async forbidRequest(key) {
      await execute(`ALTER TABLE request_log ADD CONSTRAINT forbid CHECK (key <> '${key}')`)
      return () => execute('ALTER TABLE request_log DROP CONSTRAINT forbid')
    },
    async withReamView(column, expression, use) {
      const columns = 'shard_key, generation_id, number, count, raw_length, crc, gone, quires, data'
      const selected = columns.replace(`${column},`, `${expression} AS ${column},`)
      await execute('ALTER TABLE ream RENAME TO ream_itself')
      await execute(`CREATE VIEW ream AS SELECT ${selected} FROM ream_itself`)
      await use().finally(async () => {
        await execute('DROP VIEW ream')
        await execute('ALTER TABLE ream_itself RENAME TO ream')
      })
    },
    async holdHead(name) {
      const client = new Client(server)
      await client.connect()
      await client.query('BEGIN')
      const own = 'shard_key = $1 AND name = $2'
      const values = [shardKeyOf(name), name]
      await client.query(`SELECT 1 FROM ${schema}.head WHERE ${own} FOR NO KEY UPDATE`, values)
      return () => client.end()
    },
    openAgain: (options) => openPostgresStore({ url, ...options }),
    async remove() {
      await store.close()
      await runSql(server, '', `DROP SCHEMA ${schema} CASCADE`)
    },
  }
}

/** The same, where only what any engine can do is wanted. */
export const openPostgresTestStore: (server: PostgresServer) => Promise<TestStore> = openPostgresForTest

/** Runs SQL on a connection of its own. */
export async function runSql(
  url: string,
  before: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<unknown[][]> {
  const client = new Client(url)
  await client.connect()
  try {
    if (before !== '') await client.query(before)
    return (await client.query({ text: sql, values: [...values], rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}
