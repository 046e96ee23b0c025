import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { itemsFrom } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres, type PostgresServer } from './postgres-server.ts'
import { pagesOf, readPageTexts } from './store-reading.ts'

describePostgres('reads from PostgreSQL that come at the same time', (startPostgres) => {
  const texts = itemsFrom(1, 6_250)
  const pages = pagesOf(texts)
  let server: PostgresServer
  let engine: PostgresUnderTest

  before(async () => {
    server = await startPostgres()
    engine = await openPostgresForTest(server)
    await engine.store.create('events')
    await engine.store.append('events', itemRun(texts))
  })

  after(async () => {
    await engine.remove()
    await server.stop()
  })

  const readAtOnce = (store: Store) =>
    Promise.allSettled(pages.map((_, index) => readPageTexts(store, 'events', index + 1)))

  /** A store of its own: its connections know nothing yet. */
  const withFreshStore = async (use: (store: Store) => Promise<void>): Promise<void> => {
    const store = await engine.openAgain()
    await use(store).finally(() => store.close())
  }

  const assertAllBut = (outcomes: PromiseSettledResult<string[]>[], lost: number, error: RegExp): void => {
    for (const [index, outcome] of outcomes.entries())
      if (index !== lost) assert.deepEqual(outcome, { status: 'fulfilled', value: pages[index] })
      else {
        assert.equal(outcome.status, 'rejected')
        assert.match(String(outcome.reason), error)
      }
  }

  it('each get their own answer, from the first on', async () => {
    for (let time = 0; time < 3; time++)
      await withFreshStore(async (store) => {
        for (let turn = 0; turn < 2; turn++) {
          const heads = Promise.all(pages.map((_, index) => store.head(index % 2 === 0 ? 'events' : 'none')))
          assert.deepEqual(
            (await readAtOnce(store)).map((outcome) => outcome.status === 'fulfilled' && outcome.value),
            pages,
          )
          assert.deepEqual(
            (await heads).map((head) => head?.live),
            pages.map((_, index) => (index % 2 === 0 ? 6_250 : undefined)),
          )
        }
      })
  })

  it('are none the worse for one whose row cannot be read', async () => {
    await engine.execute('UPDATE ream SET raw_length = raw_length + (1::bigint << 60) WHERE number = 3')
    try {
      await withFreshStore(async (store) => assertAllBut(await readAtOnce(store), 3, /no integer that can be kept/))
    } finally {
      await engine.execute('UPDATE ream SET raw_length = raw_length - (1::bigint << 60) WHERE number = 3')
    }
  })

  it('all fail when one of them takes too long: the others would keep everybody waiting in turn', async () => {
    const columns = `shard_key, generation_id, number, count + (SELECT 0 FROM pg_sleep(CASE number WHEN 2 THEN 30 ELSE 0 END)) AS count,
      raw_length, crc, gone, data`
    await engine.execute('ALTER TABLE ream RENAME TO ream_itself')
    await engine.execute(`CREATE VIEW ream AS SELECT ${columns} FROM ream_itself`)
    const store = await openPostgresStore({ url: engine.url, readConnections: 1, statementMs: 500 })
    try {
      await store.head('events')
      const asked = [1, 2, 3, 4, 5, 6].map((page) => store.page('events', page))
      const outcomes = await Promise.allSettled(asked)
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected', 'rejected'],
      )
    } finally {
      await store.close()
      await engine.execute('DROP VIEW ream')
      await engine.execute('ALTER TABLE ream_itself RENAME TO ream')
    }
  })

  it('are none the worse for one that the server refuses', async () => {
    const columns =
      'shard_key, generation_id, number, count + 0 / (number - 5)::integer AS count, raw_length, crc, gone, data'
    await engine.execute('ALTER TABLE ream RENAME TO ream_itself')
    await engine.execute(`CREATE VIEW ream AS SELECT ${columns} FROM ream_itself`)
    try {
      await withFreshStore(async (store) => assertAllBut(await readAtOnce(store), 5, /division by zero/))
    } finally {
      await engine.execute('DROP VIEW ream')
      await engine.execute('ALTER TABLE ream_itself RENAME TO ream')
    }
  })
})
