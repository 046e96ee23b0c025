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
    // By itself it would bring the log to the disk after 10 seconds.
    const settings = ['synchronous_commit = off', 'wal_writer_delay = 10s']
    cluster = await PostgresCluster.create(directory.path, settings, ['--no-data-checksums'])
    store = await openPostgresStore({ url: cluster.storeIn('reams'), create: true })
    await store.create('events', { keyField: 'id' })
  })
  after(async () => {
    await store?.close()
    await cluster?.[Symbol.asyncDispose]()
    directory?.[Symbol.dispose]()
  })

  it('has every write and every load that was answered', async () => {
    await store.append('events', keyed(itemsFrom(0, 3)))
    await cluster.restartImmediately()
    assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 3))
    const load = await store.load('events')
    await load.append(keyed([item(100)]))
    await load.commit()
    await cluster.restartImmediately()
    assert.deepEqual(await readItems(store, 'events'), [...itemsFrom(0, 3), item(100)])
  })

  it('has no load that lost some of its steps, which is told so', async () => {
    const before = await readItems(store, 'events')
    for (const options of [{}, { isReplacement: true }, { onConflict: 'replace' }] as const) {
      const load = await store.load('events', options)
      await load.append(keyed(itemsFrom(1000, 1000)))
      await load.append(keyed([item(3000), ...('onConflict' in options ? [item(100, ',"new":1')] : [])]))
      await cluster.restartImmediately()
      await load.append(keyed(itemsFrom(4000, 1000))).catch(() => {})
      await assert.rejects(load.commit(), isError('lease-lost'))
      await load.abort()
      assert.deepEqual(await readItems(store, 'events'), before)
      assert.deepEqual((await store.verify()).findings, [])
    }
  })

  it('has every token, and none again that was revoked', async () => {
    await store.addToken(TOKEN)
    await cluster.restartImmediately()
    assert.deepEqual(await store.tokens(), [TOKEN])
    await store.revokeToken('kept', 5)
    await cluster.restartImmediately()
    assert.deepEqual(await store.tokens(), [{ ...TOKEN, revokedAt: 5 }])
  })

  it('has what a collection follows', async () => {
    const following = { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 }
    await store.noteFollowing('events', following)
    await cluster.restartImmediately()
    assert.deepEqual(await store.followings(), [{ name: 'events', ...following }])
  })

  it('is told by verify to run without checksums, if it does, which is no damage', async () => {
    const { findings, notes } = await store.verify()
    assert.deepEqual(findings, [])
    assert.match(notes.join(), /^The database runs without data checksums/)
  })

  it('lacks what somebody else wrote, which shows that the tests above would find a loss', async () => {
    await using client = await cluster.connect()
    await client.query('CREATE TABLE lost ()')
    await cluster.restartImmediately()
    await using later = await cluster.connect()
    const { rows } = await later.query("SELECT to_regclass('lost') AS found")
    assert.equal(rows[0]?.found, null)
  })
})
