import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { openPostgresForTest } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { BASE, fill, numbered } from './open-service.ts'

/** A store that can be put back to where it was. */
interface Restorable {
  readonly store: Store
  backUp(): Promise<void>
  /** The store afterwards: the same one where it stays open meanwhile. */
  restore(): Promise<Store>
}

const KEYED = { keyField: 'id' }

interface Histories {
  readonly count: number
  readonly settings?: Partial<CollectionSettings>
  /** One commit that is another for every number. */
  readonly write: (store: Store, number: number) => Promise<unknown>
}

const append = (count: number) => (store: Store, number: number) =>
  store.append('events', itemRun(numbered(count, number * 10_000), KEYED))

/** Two histories that reach the same version with other items. */
const HISTORIES: Readonly<Record<string, Histories>> = {
  'a last page that grew': { count: 600, write: append(5) },
  'a full page with others behind it': { count: 600, write: append(1000) },
  'a full page with a replaced item': {
    count: 600,
    write: (store, number) => store.put('events', itemRun([`{"id":3,"number":${number}}`], KEYED)),
  },
  'an unpaginated collection': { count: 600, settings: { isPaginated: false }, write: append(5) },
}

function describeRestores(openRestorable: (t: TestContext) => Promise<Restorable>): void {
  const open = async (t: TestContext, { count, settings }: Histories) => {
    const opened = await openRestorable(t)
    const token = `reams_${randomBytes(32).toString('base64url')}`
    const times = { createdAt: 0, expiresAt: null, revokedAt: null }
    await opened.store.addToken({ name: 'admin', hash: hash('sha256', token, 'hex'), scopes: ['admin'], ...times })
    await fill(opened.store, 'events', numbered(count), settings)
    await opened.backUp()
    let store = await opened.restore()
    let service = createService({ store })
    return {
      write: (histories: Histories, number: number) => histories.write(store, number),
      head: async () => (await store.head('events')) ?? assert.fail(),
      async ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
        const authorized = { authorization: `Bearer ${token}`, ...headers }
        const response = await service.fetch(new Request(BASE + path, { method, headers: authorized }))
        return { status: response.status, tag: response.headers.get('etag') ?? '', text: await response.text() }
      },
      /** What a service answers that has kept nothing. */
      async askAnew(path: string) {
        return (await createService({ store }).fetch(new Request(BASE + path))).text()
      },
      async restore() {
        const restored = await opened.restore()
        if (restored !== store) service = createService({ store: restored })
        store = restored
      },
    }
  }
  const PATHS = ['/events', '/events?page=2', '/events?page=3']

  for (const [what, histories] of Object.entries(HISTORIES))
    it(`answers with what is there now: ${what}`, async (t) => {
      const { write, head, ask, askAnew, restore } = await open(t, histories)
      await write(histories, 1)
      const first = await Promise.all(PATHS.map((path) => ask(path)))
      const then = await head()
      await restore()
      await write(histories, 2)
      assert.equal((await head()).version, then.version)
      for (const [index, path] of PATHS.entries()) {
        const known = first[index] ?? assert.fail()
        const now = await ask(path, { 'if-none-match': known.tag })
        assert.equal(now.status, 200)
        assert.equal(now.text, await askAnew(path))
        assert.equal((await ask(path)).text, now.text)
        assert.equal((await ask(path, { 'if-none-match': now.tag })).status, 304)
      }
      const texts = await Promise.all(PATHS.map(async (path) => (await ask(path)).text))
      assert.notDeepEqual(
        texts,
        first.map(({ text }) => text),
      )
      // Nor is it dropped by somebody who saw the other history.
      const drop = async (tag = '') => (await ask('/events', { 'if-match': tag }, 'DELETE')).status
      assert.equal(await drop(first[0]?.tag), 412)
      await restore()
      for (const path of PATHS) assert.equal((await ask(path)).text, await askAnew(path))
      assert.equal(await drop((await ask('/events')).tag), 204)
    })
}

describe('a store in SQLite whose file was put back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  let files = 0

  describeRestores(async (t) => {
    const path = join(directory, `${++files}.db`)
    let store = await openSqliteStore({ path, create: true })
    t.after(() => store.close())
    return {
      store,
      async backUp() {
        await store.close()
        copyFileSync(path, `${path}.backup`)
      },
      async restore() {
        await store.close()
        copyFileSync(`${path}.backup`, path)
        store = await openSqliteStore({ path })
        return store
      },
    }
  })
})

describePostgres('a store in PostgreSQL that was restored while it is served', (startPostgres) => {
  let server: PostgresServer | undefined
  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  describeRestores(async (t) => {
    const { store, execute, remove } = await openPostgresForTest(server ?? assert.fail())
    t.after(remove)
    const tables = ['head', 'ream', 'tail', 'key', 'hole', 'lease', 'leftover', 'request_log']
    const forAll = (statement: (table: string) => string) =>
      execute(`BEGIN; ${tables.map(statement).join('; ')}; COMMIT`)
    return {
      store,
      async backUp() {
        await forAll((table) => `CREATE TABLE ${table}_backup AS TABLE ${table}`)
      },
      async restore() {
        await forAll((table) => `DELETE FROM ${table}; INSERT INTO ${table} TABLE ${table}_backup`)
        return store
      },
    }
  })
})
