import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { PostgresCluster } from './postgres-cluster.ts'
import { readItems } from './store-reading.ts'

const TOKEN = { name: 'kept', hash: 'a', scopes: ['admin'], createdAt: 1, expiresAt: null, revokedAt: null }

describe('a store in a PostgreSQL that commits before the disk has it, and crashes,', () => {
  let directory: TemporaryDirectory
  let cluster: PostgresCluster
  let store: Store

  before(async () => {
    directory = new TemporaryDirectory()
    // By itself it would bring the log to the disk after 10 seconds, or when it vacuums.
    const settings = ['synchronous_commit = off', 'wal_writer_delay = 10s', 'autovacuum = off']
    cluster = await PostgresCluster.create(directory.path, settings, ['--no-data-checksums'])
    store = await openPostgresStore({ url: cluster.storeIn('reams'), create: true })
    await store.create('events', { keyField: 'id' })
  })
  after(async () => {
    await store?.close()
    await cluster?.[Symbol.asyncDispose]()
    directory?.[Symbol.dispose]()
  })

  it('has what was written, and no load that lost some of its steps, which is told so', async () => {
    await using client = await cluster.connect()
    await client.query('CREATE TABLE kept ()')
    await store.append('events', keyed(itemsFrom(0, 3)))
    // The log may come to the disk at any moment, and then nothing is lost: so until something is.
    let isLost = false
    for (let attempt = 0; attempt < 5 && !isLost; attempt++) isLost = await crashDuringLoads(`attempt-${attempt}`)
    assert.ok(isLost, 'this test would find a loss')
    assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 3))
    await using later = await cluster.connect()
    const { rows } = await later.query("SELECT to_regclass('kept') IS NOT NULL AS kept")
    assert.deepEqual(rows, [{ kept: true }])
    const { findings, notes } = await store.verify()
    assert.deepEqual(findings, [])
    assert.match(notes.join(), /^The database runs without data checksums/)
  })

  /** True if a load has lost some of its steps. Its commit then fails; any other load has all of its items. */
  async function crashDuringLoads(prefix: string): Promise<boolean> {
    const options = [{}, { isReplacement: true }, { onConflict: 'replace' }] as const
    const loads = await Promise.all(
      options.map(async (each, index) => {
        const name = `${prefix}-${index}`
        await store.create(name, { keyField: 'id' })
        await store.append(name, keyed(itemsFrom(0, 3)))
        return { name, load: await store.load(name, each), kept: 'isReplacement' in each ? 0 : 3 }
      }),
    )
    for (const { load } of loads) await load.append(keyed(itemsFrom(1000, 1000)))
    await Promise.all(loads.map(({ load }) => load.append(keyed(itemsFrom(2000, 1000)))))
    await cluster.restartImmediately()
    let isLost = false
    for (const { name, load, kept } of loads) {
      const isAppended = await load.append(keyed(itemsFrom(3000, 1000))).then(
        () => true,
        () => false,
      )
      const failure = await load.commit().then(
        () => undefined,
        (error: unknown) => error,
      )
      await load.abort()
      const items = await readItems(store, name)
      if (failure === undefined) {
        assert.ok(isAppended)
        assert.deepEqual(items, [...itemsFrom(0, kept), ...itemsFrom(1000, 3000)])
        continue
      }
      assert.ok(isError('lease-lost')(failure), String(failure))
      assert.deepEqual(items, itemsFrom(0, 3))
      isLost = true
    }
    return isLost
  }

  it('answers when its log is on the disk as far as the commit', async () => {
    await using client = await cluster.connect()
    const isOnDisk = async (write: () => Promise<unknown>): Promise<boolean> => {
      const { rows: before } = await client.query('SELECT pg_current_wal_insert_lsn() AS at')
      await write()
      const { rows } = await client.query('SELECT pg_current_wal_flush_lsn() > $1 AS done', [before[0]?.at])
      return rows[0]?.done
    }
    const load = await store.load('events')
    await load.append(keyed([item(100)]))
    const following = { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 }
    await client.query('CREATE TABLE theirs (n integer)')
    const others: boolean[] = []
    for (const write of [
      () => load.commit(),
      () => store.append('events', keyed([item(200)])),
      () => store.addToken(TOKEN),
      () => store.revokeToken('kept', 5),
      () => store.noteFollowing('events', following),
      () => store.create('others'),
      () => store.drop('others'),
    ]) {
      assert.ok(await isOnDisk(write), String(write))
      others.push(await isOnDisk(() => client.query('INSERT INTO theirs VALUES (1)')))
    }
    // Once in 10 seconds the log is brought to the disk.
    assert.ok(others.includes(false), 'this test would find a loss')
  })
})
