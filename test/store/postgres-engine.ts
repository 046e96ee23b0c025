/** Opens stores in PostgreSQL for tests, each in a schema of its own that is dropped at the end. */

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { StoreUnderTest } from './describe-store.ts'
import type { PostgresServer } from './postgres-server.ts'
import type { TestStore } from './test-store.ts'

export interface PostgresUnderTest extends StoreUnderTest {
  readonly url: string
  readonly schema: string
  /** Runs SQL on the store's tables, as nobody but a test does. */
  execute(sql: string, values?: unknown[]): Promise<unknown[][]>
  /** Locks the head of a collection, as a writer does, until the answer is called. */
  holdHead(name: string): Promise<() => Promise<void>>
}

export const newSchema = (): string => `reams_test_${randomBytes(6).toString('hex')}`

/** The URL with another parameter. */
export function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${value}`
}

export async function openPostgresForTest({ url: server }: PostgresServer): Promise<PostgresUnderTest> {
  const schema = newSchema()
  const url = withParameter(server, 'schema', schema)
  const store = await openPostgresStore({ url, create: true })
  const execute = async (sql: string, values: unknown[] = []): Promise<unknown[][]> =>
    runSql(server, `SET search_path = ${schema}; SET default_transaction_read_only = off`, sql, values)
  return {
    store,
    url,
    schema,
    execute,
    async holdHead(name) {
      const client = new Client(server)
      await client.connect()
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM ${schema}.head WHERE name = $1 FOR UPDATE`, [name])
      return () => client.end()
    },
    openAgain: () => openPostgresStore({ url }),
    async remove() {
      await store.close()
      await runSql(server, '', `DROP SCHEMA ${schema} CASCADE`)
    },
  }
}

/** The same for the tests of what stands above the stores. */
export async function openPostgresTestStore(server: PostgresServer): Promise<TestStore> {
  const { store, url, execute, remove } = await openPostgresForTest(server)
  return {
    store,
    location: url,
    async ageRequests(ms) {
      await execute(`UPDATE request_log SET at = now() - interval '${ms} milliseconds'`)
    },
    remove,
  }
}

/** Runs SQL on a connection of its own. */
export async function runSql(url: string, before: string, sql: string, values: unknown[] = []): Promise<unknown[][]> {
  const client = new Client(url)
  await client.connect()
  try {
    if (before !== '') await client.query(before)
    return (await client.query({ text: sql, values, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}
