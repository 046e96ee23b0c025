import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { allRefused, isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { newSchema, openPostgresForTest, type PostgresUnderTest, runSql } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { readItems } from './store-reading.ts'
import { startProxy, type TcpProxy } from './tcp-proxy.ts'

/** The message that asks for a commit. */
const COMMIT = Buffer.from('COMMIT\0')

const OTHER_BACKENDS = `pg_stat_activity
  WHERE application_name = 'reams' AND datname = current_database() AND pid <> pg_backend_pid()`

/** Cuts the connection that asks for the n-th commit from now on, once. */
function cutAtCommit(proxy: TcpProxy, verdict: 'cut before' | 'cut after', turn = 1): void {
  let commits = 0
  proxy.judge = (data) => (data.includes(COMMIT) && ++commits === turn ? verdict : 'pass')
}

describe('a store in PostgreSQL whose connections break', () => {
  const database = newSchema()
  let server: PostgresServer | undefined
  let direct: PostgresUnderTest
  let proxy: TcpProxy
  /** The same store, through the proxy. */
  let store: Store
  let names = 0

  before(async () => {
    server = await startPostgres()
    await runSql(server.url, '', `CREATE DATABASE ${database}`)
    direct = await openPostgresForTest({ url: Object.assign(new URL(server.url), { pathname: database }).href })
    const { hostname, port } = new URL(direct.url)
    proxy = await startProxy(hostname, Number(port))
    store = await openPostgresStore({ url: direct.url.replace(`:${port}/`, `:${proxy.port}/`) })
  })
  after(async () => {
    await store?.close()
    await proxy?.close()
    await direct?.store.close()
    if (server) await runSql(server.url, '', `DROP DATABASE ${database} WITH (FORCE)`)
    await server?.stop()
  })

  /** A keyed collection with three items, and a proxy that lets everything pass at the end. */
  const begin = async (t: TestContext): Promise<string> => {
    t.after(() => {
      proxy.judge = () => 'pass'
      proxy.isOpen = true
    })
    const name = `broken-${++names}`
    await direct.store.create(name, { keyField: 'id' })
    await direct.store.append(name, keyed(itemsFrom(0, 3)))
    return name
  }

  for (const moment of ['cut before', 'cut after'] as const) {
    it(`answers writes with a key truly whose commit was ${moment}, and says of others that nobody knows`, async (t) => {
      const name = await begin(t)
      // The first is alone; the others wait for it and share the second commit.
      cutAtCommit(proxy, moment, 2)
      const outcomes = await outcomesOf(
        Array.from({ length: 20 }, (_, turn) => {
          const options = turn % 2 === 0 ? { once: { key: `${name} ${turn}`, digest: 'a' } } : {}
          return store.append(name, keyed([item(100 + turn)]), options)
        }),
      )
      assert.deepEqual(
        outcomes,
        outcomes.map((_, turn) => (turn % 2 === 0 ? 'done' : 'outcome-unknown')),
      )
      const done = itemsFrom(100, 20).filter((_, turn) => turn % 2 === 0 || moment === 'cut after')
      const stored = await readItems(direct.store, name)
      assert.deepEqual(stored.toSorted(), [...itemsFrom(0, 3), ...done].toSorted())
    })

    it(`finishes a load truly when its commit was ${moment}`, async (t) => {
      const name = await begin(t)
      const load = await store.load(name)
      await load.append(keyed(itemsFrom(100, 1200)))
      let isFinishing = false
      let isCut = false
      proxy.judge = (data) => {
        // The commit that removes the lease is the one that moves the head.
        isFinishing ||= data.includes('deleteLease')
        if (!isFinishing || isCut || !data.includes(COMMIT)) return 'pass'
        isCut = true
        return moment
      }
      const { head } = await load.commit()
      assert.ok(isCut)
      assert.equal(head.live, 1203)
      assert.deepEqual(await readItems(store, name), [...itemsFrom(0, 3), ...itemsFrom(100, 1200)])
    })
  }

  for (const [happening, cut] of [
    ['its idle connections were cut', async () => proxy.cutAll()],
    [
      'the server ended its connections',
      () => direct.execute(`SELECT pg_terminate_backend(pid) FROM ${OTHER_BACKENDS}`),
    ],
  ] as const)
    it(`goes on when ${happening}`, async (t) => {
      const name = await begin(t)
      for (let turn = 0; turn < 3; turn++) {
        await Promise.all(Array.from({ length: 8 }, () => store.head(name)))
        await cut()
        assert.equal((await store.head(name))?.live, 3 + turn)
        await cut()
        await store.append(name, keyed([item(100 + turn)]))
      }
    })

  it('is unavailable while the server is, and works again by itself', async (t) => {
    const name = await begin(t)
    await store.head(name)
    proxy.isOpen = false
    proxy.cutAll()
    await allRefused('unavailable', [
      ...[store.head(name), store.page(name, 1), store.item(name, '1'), store.ping(), store.tokens()],
      ...[store.append(name, keyed([item(7)])), store.load(name), store.verify(), readItems(store, name)],
    ])
    proxy.isOpen = true
    await store.ping()
    await store.append(name, keyed([item(7)]))
    assert.deepEqual(await readItems(store, name), [...itemsFrom(0, 3), item(7)])
  })

  it('refuses writes while the database is read-only, and reads on', async (t) => {
    const name = await begin(t)
    const setReadOnly = (words: string) =>
      direct.execute(`ALTER DATABASE ${new URL(direct.url).pathname.slice(1)} ${words}`)
    await setReadOnly('SET default_transaction_read_only = on')
    try {
      proxy.cutAll()
      await assert.rejects(store.append(name, keyed([item(7)])), isError('read-only'))
      assert.equal((await store.head(name))?.live, 3)
    } finally {
      await setReadOnly('RESET default_transaction_read_only')
    }
    proxy.cutAll()
    await store.append(name, keyed([item(7)]))
  })

  it('never has more connections or more waiting than it should, and is well afterwards', async (t) => {
    const name = await begin(t)
    const reads = outcomesOf(Array.from({ length: 10_000 }, () => store.page(name, 1)))
    const writes = outcomesOf(Array.from({ length: 2300 }, (_, turn) => store.append(name, keyed([item(1000 + turn)]))))
    const [[most] = []] = await direct.execute(`SELECT count(*)::integer FROM ${OTHER_BACKENDS}`)
    assert.ok(Number(most) <= 16 + 16, `${most} connections`)
    for (const each of [await reads, await writes])
      assert.deepEqual([...new Set(each)].toSorted(), ['done', 'overloaded'])
    const stored = 3 + (await writes).filter((each) => each === 'done').length
    assert.equal((await store.head(name))?.live, stored)
    assert.deepEqual((await direct.store.verify()).findings, [])
  })

  it('waits for its own connections when the server gives it no more, and not for a day when the clock is put back', async (t) => {
    const name = await begin(t)
    const role = `reams_few_${process.pid}`
    await direct.execute(`
      CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 3;
      GRANT USAGE ON SCHEMA ${direct.schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${direct.schema} TO ${role}`)
    const url = Object.assign(new URL(direct.url), { username: role, password: 'few' })
    const limited = await openPostgresStore({ url: url.href })
    const pages = await Promise.all(Array.from({ length: 100 }, () => limited.page(name, 1)))
    assert.ok(pages.every((page) => page?.head.live === 3))
    await limited.close()
    // It waits no longer when the clock of the machine is put back meanwhile.
    await direct.execute(`ALTER ROLE ${role} CONNECTION LIMIT 0`)
    const other = openPostgresStore({ url: url.href })
    const now = Date.now()
    t.mock.method(Date, 'now', () => now - 86_400_000)
    await assert.rejects(other, isError('unavailable'))
    t.mock.restoreAll()
    await direct.execute(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
})
