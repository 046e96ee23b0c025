import assert from 'node:assert/strict'
import { after, before, it, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { isError, item } from './items.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres, type PostgresServer } from './postgres-server.ts'
import { readItems } from './store-reading.ts'

const once = { key: 'the key', digest: 'a' }

describePostgres('what a store in PostgreSQL remembers of requests', (startPostgres) => {
  let server: PostgresServer | undefined

  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  const openStore = async (t: TestContext) => {
    assert.ok(server)
    const opened = await openPostgresForTest(server)
    t.after(() => opened.remove())
    await opened.store.create('events')
    const rememberedKeys = async () => (await opened.execute('SELECT key FROM request_log ORDER BY key')).flat()
    return { ...opened, rememberedKeys }
  }

  it('counts for 24 hours', async (t) => {
    const { store, execute } = await openStore(t)
    await store.append('events', itemRun([item(1)]), { once })
    await execute("UPDATE request_log SET at = now() - interval '23 hours 59 minutes'")
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(1)])
    await execute("UPDATE request_log SET at = now() - interval '24 hours'")
    await store.append('events', itemRun([item(2)]), { once: { ...once, digest: 'b' } })
    assert.deepEqual(await readItems(store, 'events'), [item(1), item(2)])
    await assert.rejects(store.append('events', itemRun([item(1)]), { once }), isError('request-differs'))
  })

  it('is removed when it no longer counts, some with every write', async (t) => {
    const { store, execute, rememberedKeys } = await openStore(t)
    const keys = Array.from({ length: 250 }, (_, index) => String(1000 + index))
    await Promise.all(keys.map((key) => store.append('events', itemRun([item(1)]), { once: { key, digest: 'a' } })))
    assert.deepEqual(await rememberedKeys(), keys)
    await execute("UPDATE request_log SET at = now() - interval '24 hours' WHERE key < '1240'")
    const more = Array.from({ length: 120 }, (_, index) => String(2000 + index))
    await Promise.all(more.map((key) => store.append('events', itemRun([item(1)]), { once: { key, digest: 'a' } })))
    assert.deepEqual(await rememberedKeys(), [...keys.slice(240), ...more])
  })

  it('is removed alone: another collection of that name may have answered the same key since', async (t) => {
    const { store, execute, rememberedKeys } = await openStore(t)
    await store.append('events', itemRun([item(1)]), { once })
    await execute("UPDATE request_log SET at = now() - interval '24 hours'")
    await store.drop('events')
    await store.create('events')
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await rememberedKeys(), [once.key])
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(1)])
  })

  it('is written together with the write: without the one there is not the other', async (t) => {
    const { store, execute, rememberedKeys } = await openStore(t)
    const before = await store.head('events')
    await execute("ALTER TABLE request_log ADD CONSTRAINT refuse CHECK (key <> 'the key')")
    await assert.rejects(store.append('events', itemRun([item(1)]), { once }), isError('unsupported'))
    assert.deepEqual(await store.head('events'), before)
    // Others in the same commit are not harmed.
    const [first, refused, done] = await Promise.allSettled([
      store.append('events', itemRun([item(2)])),
      store.append('events', itemRun([item(1)]), { once }),
      store.append('events', itemRun([item(3)])),
    ])
    assert.deepEqual([first.status, refused.status, done.status], ['fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual(await readItems(store, 'events'), [item(2), item(3)])
    await execute('ALTER TABLE request_log DROP CONSTRAINT refuse')
    await store.append('events', itemRun([item(1)]), { once })
    assert.deepEqual(await readItems(store, 'events'), [item(2), item(3), item(1)])
    assert.deepEqual(await rememberedKeys(), [once.key])
  })

  it('is nothing for a write without a key, and nothing for one that was refused', async (t) => {
    const { store, rememberedKeys } = await openStore(t)
    await store.append('events', itemRun([item(1)]))
    await assert.rejects(store.append('nope', itemRun([item(1)]), { once }), isError('no-collection'))
    assert.deepEqual(await rememberedKeys(), [])
  })
})
