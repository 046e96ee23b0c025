import assert from 'node:assert/strict'
import { it } from 'node:test'
import { stateOf } from '../../src/contract/state-tag.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { inMessages } from '../../src/store/postgres/rows/stored-ream.ts'
import { describeHistory } from './describe-history.ts'
import { changed, item, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { KEYED } from './subject.ts'

describePostgres('a store in PostgreSQL', (startPostgres) => {
  describeHistory('postgres', { open: async () => openPostgresForTest(await startPostgres()) })

  it('keeps states for their time by the clock of the database, whatever the clock of a process says', async (t) => {
    const { store, openAgain, remove } = await openPostgresForTest(await startPostgres())
    t.after(remove)
    const remover = await openAgain({ forgetEveryMs: 3 })
    t.after(() => remover.close())
    await store.create('events', KEYED)
    const tag = stateOf((await store.head('events')) ?? assert.fail())
    await store.append('events', keyed([item(1)]))
    const [now, day] = [Date.now(), 86_400_000]
    for (const wrong of [now + 2 * day, now - 2 * day]) {
      t.mock.method(Date, 'now', () => wrong)
      const { keptMs } = (await store.stateAt('events', tag)) ?? assert.fail()
      assert.ok(keptMs > day / 2 && keptMs <= day, String(keptMs))
      await remover.append('events', keyed([item(wrong)]))
      await new Promise((resolve) => setTimeout(resolve, 50))
      assert.ok(await store.stateAt('events', tag))
    }
  })
})

describePostgres('the past of a collection in PostgreSQL', (startPostgres, isCitus) =>
  it('is found by index where the tables are small too: its plans are kept while they grow', {
    skip: isCitus && 'the shards have the statistics',
  }, async () => {
    const { store, url, execute, remove } = await openPostgresForTest(await startPostgres())
    const scansOf = async (): Promise<Record<string, number[]>> => {
      const rows = await execute(
        'SELECT relname, seq_scan, idx_scan FROM pg_stat_user_tables WHERE schemaname = current_schema',
      )
      return Object.fromEntries(rows.map(([table, ...scans]) => [table, scans.map(Number)]))
    }
    try {
      await store.create('events', KEYED)
      await store.append('events', keyed(itemsFrom(0, 600)))
      const tag = stateOf((await store.head('events')) ?? assert.fail())
      await store.put('events', keyed([changed(3, 1)]))
      // Not of the whole database: other tests have tables there that cannot be analyzed.
      await execute(`ANALYZE ${Object.keys(await scansOf()).join(', ')}`)
      const before = await scansOf()
      const reader = await openPostgresStore({ url, readConnections: 1 })
      await reader.pageAt('events', tag, 1).finally(() => reader.close())
      // A connection tells what it did when it ends.
      let now = await scansOf()
      while (String(now['past']) === String(before['past'])) now = await scansOf()
      for (const table of ['past', 'change']) {
        assert.equal(now[table]?.[0], before[table]?.[0], `${table} was read as a whole`)
        assert.ok(Number(now[table]?.[1]) > Number(before[table]?.[1]), `${table} was not read`)
      }
    } finally {
      await remove()
    }
  }),
)

it('rows go in messages of about a megabyte, and a larger one goes alone', () => {
  // A commit may have gigabytes of history, and no message as much as half of one.
  const sizes = [600_000, 300_000, 200_000, 5_000_000, 1]
  assert.deepEqual([...inMessages(sizes, (size) => size)], [[600_000, 300_000], [200_000], [5_000_000], [1]])
  assert.deepEqual([...inMessages([], () => 1)], [])
})
