/** Who sees what of a store in PostgreSQL, and what a service answers whose role may only read. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createService, type Service } from '../../src/service/create-service.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openPostgresForTest, type PostgresUnderTest, runSql } from '../store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { BASE, fill, numbered, tokenFor } from './open-service.ts'

describe('a service with a store in PostgreSQL', () => {
  const resources = new AsyncDisposableStack()
  let server: PostgresServer
  let owned: PostgresUnderTest

  before(async () => {
    server = resources.adopt(await startPostgres(), ({ stop }) => stop())
    owned = resources.adopt(await openPostgresForTest(server), ({ remove }) => remove())
    await fill(owned.store, 'events', numbered(3))
    await owned.store.create('secret', { isPrivate: true })
    await owned.store.create('other', { isPrivate: true })
  })
  after(() => resources.disposeAsync())

  it('shows callers who ask at the same time no more than each may see', async () => {
    const { fetch } = createService({ store: owned.store })
    const callers = [
      [{}, ['events']],
      [await tokenFor(owned.store, ['read:secret']), ['events', 'secret']],
      [await tokenFor(owned.store, ['read:*']), ['events', 'other', 'secret']],
      [await tokenFor(owned.store, ['read:other']), ['events', 'other']],
    ] as const
    const ask = async (headers: Record<string, string>): Promise<string[]> => {
      const answer = await fetch(new Request(BASE, { headers }))
      const { _embedded } = (await answer.json()) as { _embedded: { collections: { name: string }[] } }
      return _embedded.collections.map(({ name }) => name)
    }
    const asked = Array.from({ length: 40 }, (_, turn) => callers[turn % callers.length] ?? callers[0])
    const seen = await Promise.all(asked.map(([headers]) => ask(headers)))
    assert.deepEqual(
      seen,
      asked.map(([, names]) => names),
    )
  })

  describe('whose role may only read', () => {
    const role = `reams_reader_${process.pid}`
    const sql = (text: string) => runSql(server.url, '', text)
    let service: Service

    before(async () => {
      await sql(`
        CREATE ROLE ${role} LOGIN PASSWORD 'other'; GRANT USAGE ON SCHEMA ${owned.schema} TO ${role};
        GRANT SELECT ON ALL TABLES IN SCHEMA ${owned.schema} TO ${role}`)
      resources.defer(async () => void (await sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
      const url = Object.assign(new URL(owned.url), { username: role, password: 'other' }).href
      service = createService({ store: resources.adopt(await openPostgresStore({ url }), (store) => store.close()) })
    })

    it('answers reads, and writes with 403 and the reason', async () => {
      const headers = { ...(await tokenFor(owned.store, ['admin'])), 'Content-Type': 'application/json' }
      for (const path of ['', '/events', '/events/1', '/secret', '/-/health', '/-/changes'])
        assert.notEqual((await service.fetch(new Request(BASE + path, { headers }))).status, 503, path)
      const writes = [
        ['POST', '/events', '{"id":"new"}'],
        ['PUT', '/events/1', '{"id":1,"a":1}'],
        ['DELETE', '/events/1', null],
        ['PUT', '/new', '{"key":"id"}'],
        ['DELETE', '/events', null],
      ] as const
      for (const [method, path, body] of writes) {
        const answer = await service.fetch(
          new Request(BASE + path, { method, body, headers: { ...headers, 'If-Match': '*' } }),
        )
        const { type, detail } = (await answer.json()) as { type: string; detail: string }
        const said = [answer.status, type.split('/').at(-1), detail]
        assert.deepEqual(said, [403, 'read-only', 'The service may only read its store.'], `${method} ${path}`)
      }
      assert.equal((await owned.store.head('events'))?.live, 3)
    })
  })
})
