import assert from 'node:assert/strict'
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
import { BASE, fill, numbered, tokenFor } from './open-service.ts'

/** Opens a store that is filled, and can be put back to where it was then: it is the same one where it stays open meanwhile. */
type OpenRestorable = (t: TestContext, fillStore: (store: Store) => Promise<void>) => Promise<() => Promise<Store>>

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

const PATHS = ['/events', '/events?page=2', '/events?page=3']

function describeRestores(openRestorable: OpenRestorable): void {
  for (const [what, { count, settings, write }] of Object.entries(HISTORIES))
    it(`answers with what is there now: ${what}`, async (t) => {
      let admin = {}
      const putBack = await openRestorable(t, async (empty) => {
        await fill(empty, 'events', numbered(count), settings)
        admin = await tokenFor(empty, ['admin'])
      })
      let store = await putBack()
      let service = createService({ store })
      const restore = async () => {
        const restored = await putBack()
        if (restored !== store) service = createService({ store: restored })
        store = restored
      }
      const ask = async (path: string, headers: Record<string, string> = {}, asked = service) => {
        const response = await asked.fetch(new Request(BASE + path, { headers }))
        return { status: response.status, tag: response.headers.get('etag') ?? '', text: await response.text() }
      }
      /** Fails unless it is what a service answers that has kept nothing. */
      const assertNow = async (path: string, text: string) =>
        assert.equal(text, (await ask(path, {}, createService({ store }))).text)

      await write(store, 1)
      const first = await Promise.all(PATHS.map((path) => ask(path)))
      const then = await store.head('events')
      await restore()
      await write(store, 2)
      assert.equal((await store.head('events'))?.version, then?.version)
      const second = await Promise.all(
        PATHS.map(async (path, index) => {
          const now = await ask(path, { 'if-none-match': first[index]?.tag ?? '' })
          assert.equal(now.status, 200)
          await assertNow(path, now.text)
          assert.equal((await ask(path)).text, now.text)
          assert.equal((await ask(path, { 'if-none-match': now.tag })).status, 304)
          return now
        }),
      )
      assert.notDeepEqual(textsOf(second), textsOf(first))
      // Nor is there a state of the other history, or what came after it.
      const { snapshot } = JSON.parse(first[0]?.text ?? '')._links
      if (settings?.isPaginated !== false)
        for (const end of ['', '..']) assert.equal((await ask(`${snapshot.href.slice(BASE.length)}${end}`)).status, 404)
      // Nor is it dropped by somebody who saw the other history.
      const headers = { ...admin, 'if-match': first[0]?.tag ?? '' }
      const drop = new Request(`${BASE}/events`, { method: 'DELETE', headers })
      assert.equal((await service.fetch(drop)).status, 412)
      await restore()
      for (const path of PATHS) await assertNow(path, (await ask(path)).text)
    })
}

function textsOf(answers: readonly { readonly text: string }[]): string[] {
  return answers.map(({ text }) => text)
}

describe('a store in SQLite whose file was put back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  let files = 0

  describeRestores(async (t, fillStore) => {
    const path = join(directory, `${++files}.db`)
    let store = await openSqliteStore({ path, create: true })
    t.after(() => store.close())
    await fillStore(store)
    await store.close()
    copyFileSync(path, `${path}.backup`)
    return async () => {
      await store.close()
      copyFileSync(`${path}.backup`, path)
      store = await openSqliteStore({ path })
      return store
    }
  })
})

describePostgres('a store in PostgreSQL that was restored while it is served', (startPostgres) => {
  let server: PostgresServer | undefined
  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  describeRestores(async (t, fillStore) => {
    const { store, execute, remove } = await openPostgresForTest(server ?? assert.fail())
    t.after(remove)
    await fillStore(store)
    const history = ['state', 'change', 'past', 'past_hole', 'replaced']
    const tables = ['head', 'ream', 'tail', 'key', 'hole', ...history, 'lease', 'leftover', 'request_log']
    const forAll = (statement: (table: string) => string) =>
      execute(`BEGIN; ${tables.map(statement).join('; ')}; COMMIT`)
    await forAll((table) => `CREATE TABLE ${table}_backup AS TABLE ${table}`)
    return async () => {
      await forAll((table) => `DELETE FROM ${table}; INSERT INTO ${table} TABLE ${table}_backup`)
      return store
    }
  })
})
