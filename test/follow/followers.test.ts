import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Followers } from '../../src/follow/followers.ts'
import { Names, schemaStatements } from '../../src/follow/installation.ts'
import { PostgresSession } from '../../src/tables/postgres-session.ts'
import { newSchema, runSql } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'

it('a new follower adopts one with an unfinished first load, but never one that has finished it', async () => {
  await using resources = new AsyncDisposableStack()
  const { url } = resources.adopt(await startPostgres(), (server) => server.stop())
  const schema = newSchema()
  const { followers } = new Names(schema, '')
  const row = (id: string, state: string) => `INSERT INTO ${followers} VALUES ('${id}', 1, 't', 'events', ${state})`
  await runSql(url, '', [...schemaStatements(new Names(schema, '')), row('00000001', "'7.abc'")].join(';'))
  resources.defer(async () => void (await runSql(url, '', `DROP SCHEMA ${schema} CASCADE`)))
  const { signal } = new AbortController()
  const session = resources.adopt(new PostgresSession(url, signal), (each) => each.end())
  await session.connect()
  const adopt = () => new Followers(session, 1, { schema, collection: 'events', signal }).adopt()
  assert.deepEqual(await adopt(), { isBusy: false })
  await runSql(url, '', row('00000002', 'NULL'))
  assert.deepEqual(await adopt(), { id: '00000002', isBusy: false })
})
