/** A backup that is put back, in place of the store or beside it, also on the other engine, and then written to. */

import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it, type TestContext } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { runInside, workDirectory } from '../cli/run-cli.ts'
import { keyed } from '../store/items.ts'
import { newSchema, openPostgresForTest, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { BASE, fill, numbered, tokenFor } from './open-service.ts'
import { isWhole } from './whole.ts'

async function ask(store: Store, path: string, headers = {}, method = 'GET', service = createService({ store })) {
  const response = await service.fetch(new Request(BASE + path, { method, headers }))
  return { status: response.status, tag: response.headers.get('etag') ?? '', text: await response.text() }
}

/** Puts a store back to where it was: it is the same one where it stays open meanwhile. */
type PutBack = () => Promise<Store>

interface Histories {
  readonly settings?: Partial<CollectionSettings>
  /** One commit that is another for every number. */
  readonly write: (store: Store, name: string, number: number) => Promise<unknown>
}

const append = (count: number): Histories['write'] => {
  return (store, name, number) => store.append(name, keyed(numbered(count, number * 10_000)))
}

/** Two histories of a collection of 600 items that reach the same version with other items. */
const HISTORIES: Readonly<Record<string, Histories>> = {
  grown: { write: append(5) },
  followed: { write: append(1000) },
  replaced: { write: (store, name, number) => store.put(name, keyed([`{"id":3,"number":${number}}`])) },
  unpaginated: { settings: { isPaginated: false }, write: append(5) },
}
const ALL = Object.entries(HISTORIES)
const PATHS = ALL.flatMap(([name]) => ['', '?page=2', '?page=3'].map((page) => `/${name}${page}`))

async function fillAll(store: Store): Promise<void> {
  for (const [name, { settings }] of ALL) await fill(store, name, numbered(600), settings)
}

/** A last page that grew, a full page with others behind it or with a replaced item, an unpaginated collection. */
async function checkRestore(putBack: PutBack): Promise<void> {
  let store = await putBack()
  let service = createService({ store })
  const restore = async (): Promise<void> => {
    const restored = await putBack()
    if (restored !== store) service = createService({ store: restored })
    store = restored
  }
  const askKept = (path: string, headers = {}, method = 'GET') => ask(store, path, headers, method, service)
  /** Fails unless it is what a service answers that has kept nothing. */
  const assertNow = async (path: string, text: string) => assert.equal(text, (await ask(store, path)).text, path)
  const writeAll = async (number: number) => {
    for (const [name, { write }] of ALL) await write(store, name, number)
    return Promise.all(ALL.map(async ([name]) => (await store.head(name))?.version))
  }

  const versions = await writeAll(1)
  const first = await Promise.all(PATHS.map(async (path) => ({ path, ...(await askKept(path)) })))
  await restore()
  assert.deepEqual(await writeAll(2), versions)
  const different = new Set<string>()
  for (const { path, tag, text } of first) {
    const now = await askKept(path, { 'if-none-match': tag })
    assert.equal(now.status, 200, path)
    await assertNow(path, now.text)
    assert.equal((await askKept(path)).text, now.text)
    assert.equal((await askKept(path, { 'if-none-match': now.tag })).status, 304)
    if (now.text !== text) different.add(path.replace(/\?.*/, ''))
    // Nor is there a state of the other history, or what came after it.
    const { snapshot } = JSON.parse(text)._links
    for (const end of snapshot === undefined ? [] : ['', '..'])
      assert.equal((await askKept(`${snapshot.href.slice(BASE.length)}${end}`)).status, 404)
  }
  assert.equal(different.size, ALL.length)
  // Nor is a collection dropped by somebody who saw the other history.
  const admin = await tokenFor(store, ['admin'])
  for (const { path, tag } of first)
    if (!path.includes('?')) assert.equal((await askKept(path, { ...admin, 'if-match': tag }, 'DELETE')).status, 412)
  await restore()
  for (const path of PATHS) await assertNow(path, (await askKept(path)).text)
}

it('a service answers with what is there now, after the file of its store in SQLite was put back', async (t) => {
  const path = join(workDirectory(t), 'my.db')
  let store = await openSqliteStore({ path, create: true })
  t.after(() => store.close())
  await fillAll(store)
  await store.close()
  copyFileSync(path, `${path}.backup`)
  await checkRestore(async () => {
    await store.close()
    copyFileSync(`${path}.backup`, path)
    store = await openSqliteStore({ path })
    return store
  })
})

describePostgres('with PostgreSQL', (startPostgres) => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  it('a service answers with what is there now, after its store was restored while it is served', async (t) => {
    const { store, execute, remove } = await openPostgresForTest(server)
    t.after(remove)
    await fillAll(store)
    const history = ['state', 'change', 'past', 'past_hole', 'replaced']
    const tables = ['head', 'ream', 'tail', 'key', 'hole', ...history, 'lease', 'leftover', 'request_log']
    const forAll = (statement: (table: string) => string) =>
      execute(`BEGIN; ${tables.map(statement).join('; ')}; COMMIT`)
    await forAll((table) => `CREATE TABLE ${table}_backup AS TABLE ${table}`)
    await checkRestore(async () => {
      await forAll((table) => `DELETE FROM ${table}; INSERT INTO ${table} TABLE ${table}_backup`)
      return store
    })
  })

  /** Where a new store can be. */
  function place(t: TestContext, engine: string, directory: string): string {
    const schema = newSchema()
    if (engine === 'SQLite') return join(directory, `${schema}.db`)
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

  const replaceSome = (store: Store, text: string) => {
    const lines = Array.from({ length: 20 }, (_, id) => `{"id":${id},"text":"${text}"}`)
    return store.patch('events', { puts: keyed(lines), steps: lines.map(() => null) })
  }

  const snapshotOf = async (store: Store): Promise<string> =>
    JSON.parse((await ask(store, '/events')).text)._links.snapshot.href.slice(BASE.length)

  const engines = ['SQLite', 'PostgreSQL']
  const pairs = engines.flatMap((from) => engines.map((to) => [from, to] as const))
  for (const [from, to] of pairs.filter(([each, other]) => isWhole() || each !== other))
    it(`tags name the same bytes or nothing in a backup that is restored from ${from} to ${to}`, async (t) => {
      const directory = workDirectory(t)
      const [first, second] = [place(t, from, directory), place(t, to, directory)]
      const original = await open(t, first, true)
      await fill(original, 'events', numbered(1200))
      const admin = await tokenFor(original, ['admin'])
      const early = await snapshotOf(original)
      await replaceSome(original, 'before the backup')
      const shared = await snapshotOf(original)
      const paths = ['/events', '/events?page=2', early, `${early}?page=2`, `${early}..`, shared]
      const known = await Promise.all(paths.map(async (path) => ({ path, ...(await ask(original, path)) })))
      for (const [word, store] of Object.entries({ backup: first, restore: second })) {
        const options = { in: directory, variables: { REAMS_STORE: store } }
        const { status, stderr } = await runInside([word, 'copy.backup'], options)
        assert.equal(status, 0, stderr)
      }
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
