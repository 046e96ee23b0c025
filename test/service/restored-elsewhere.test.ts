/** A backup that is restored beside the store it came from, also on the other engine, and then written to. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { runInside, workDirectory } from '../cli/run-cli.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { BASE, fill, numbered, tokenFor } from './open-service.ts'

const KEYED = { keyField: 'id' }
const ENGINES = ['SQLite', 'PostgreSQL'] as const
type Engine = (typeof ENGINES)[number]

describe('tags of a store whose backup was restored', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  /** Where a new store can be. */
  function place(t: TestContext, engine: Engine, directory: string): string {
    if (engine === 'SQLite') return join(directory, `${newSchema()}.db`)
    const schema = newSchema()
    t.after(() => runSql(server.url, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`))
    return withParameter(server.url, 'schema', schema)
  }

  async function open(t: TestContext, location: string, create = false): Promise<Store> {
    const store = location.startsWith('postgres')
      ? await openPostgresStore({ url: location, create })
      : await openSqliteStore({ path: location, create })
    t.after(() => store.close())
    return store
  }

  async function restore(from: string, to: string, directory: string): Promise<void> {
    for (const [word, store] of [
      ['backup', from],
      ['restore', to],
    ] as const) {
      const options = { in: directory, variables: { REAMS_STORE: store } }
      const { status, stderr } = await runInside([word, 'copy.backup'], options)
      assert.equal(status, 0, stderr)
    }
  }

  const replaceSome = (store: Store, text: string) => {
    const lines = Array.from({ length: 20 }, (_, id) => `{"id":${id},"text":"${text}"}`)
    return store.patch('events', { puts: itemRun(lines, KEYED), steps: lines.map(() => null) })
  }

  async function ask(store: Store, path: string, headers: Record<string, string> = {}, method = 'GET') {
    const request = new Request(BASE + path, { method, headers })
    const response = await createService({ store }).fetch(request)
    return { status: response.status, tag: response.headers.get('etag') ?? '', text: await response.text() }
  }

  async function snapshotOf(store: Store): Promise<string> {
    const { text } = await ask(store, '/events')
    return JSON.parse(text)._links.snapshot.href.slice(BASE.length)
  }

  for (const from of ENGINES)
    for (const to of ENGINES)
      it(`name the same bytes or nothing, from ${from} to ${to}`, async (t) => {
        const directory = workDirectory(t)
        const [first, second] = [place(t, from, directory), place(t, to, directory)]
        const original = await open(t, first, true)
        await fill(original, 'events', numbered(1200), KEYED)
        const admin = await tokenFor(original, ['admin'])
        const early = await snapshotOf(original)
        await replaceSome(original, 'before the backup')
        const shared = await snapshotOf(original)
        const paths = ['/events', '/events?page=2', early, `${early}?page=2`, `${early}..`, shared]
        const known = await Promise.all(paths.map(async (path) => ({ path, ...(await ask(original, path)) })))
        await restore(first, second, directory)
        await replaceSome(original, 'after the backup')
        const late = await snapshotOf(original)
        const lateTag = (await ask(original, '/events')).tag
        const lateChanges = (await ask(original, `${shared}..`)).tag

        const restored = await open(t, second)
        const check = async () => {
          for (const { path, tag, text } of known) {
            const now = await ask(restored, path)
            if (path.includes('@') && !path.endsWith('..') && now.status === 200) assert.equal(now.text, text, path)
            const { status } = await ask(restored, path, { 'if-none-match': tag })
            if (status === 304) assert.equal(now.text, text, path)
            else assert.ok([200, 404, 410].includes(status), `${path}: ${status}`)
          }
          for (const path of [late, `${late}..`]) assert.equal((await ask(restored, path)).status, 404)
          assert.equal((await ask(restored, '/events', { 'if-none-match': lateTag })).status, 200)
          assert.notEqual((await ask(restored, `${shared}..`, { 'if-none-match': lateChanges })).status, 304)
          assert.equal((await ask(restored, '/events', { ...admin, 'if-match': lateTag }, 'DELETE')).status, 412)
        }
        await check()
        await replaceSome(restored, 'another history')
        await check()
        assert.doesNotMatch((await ask(restored, `${shared}..`)).text, /after the backup/)
      })
})
