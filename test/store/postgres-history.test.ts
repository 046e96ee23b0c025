import assert from 'node:assert/strict'
import { it } from 'node:test'
import { inMessages } from '../../src/store/postgres/rows/stored-ream.ts'
import { describeHistory, tagOf } from './describe-history.ts'
import { item, keyed } from './items.ts'
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
    const tag = tagOf((await store.head('events')) ?? assert.fail())
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

it('rows go in messages of about a megabyte, and a larger one goes alone', () => {
  // A commit may have gigabytes of history, and no message as much as half of one.
  const sizes = [600_000, 300_000, 200_000, 5_000_000, 1]
  assert.deepEqual([...inMessages(sizes, (size) => size)], [[600_000, 300_000], [200_000], [5_000_000], [1]])
  assert.deepEqual([...inMessages([], () => 1)], [])
})
