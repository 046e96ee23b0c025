/** A server behind the one that answers is away, as Citus says of a worker: here a view says so in its place. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { isError, itemsFrom } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest, withParameter } from './postgres-engine.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { pagesOf, readPageTexts } from './store-reading.ts'

describe('a store whose server says that another one is away', () => {
  const texts = itemsFrom(1, 3_250)
  let server: PostgresServer
  let engine: PostgresUnderTest

  before(async () => {
    server = await startPostgres()
    engine = await openPostgresForTest(server)
    await engine.store.create('events')
    await engine.store.append('events', itemRun(texts))
    await engine.execute(`
      CREATE FUNCTION away(number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
          IF number = 3 THEN RAISE EXCEPTION 'connection refused' USING ERRCODE = '08006'; END IF;
          RETURN number;
        END $$`)
  })
  after(async () => {
    await engine.remove()
    await server.stop()
  })

  const whileAway = async (use: () => Promise<void>): Promise<void> => {
    const columns = `shard_key, generation_id, number + 0 * ${engine.schema}.away(number) AS number, count, raw_length, crc, gone, data`
    await engine.execute('ALTER TABLE ream RENAME TO ream_itself')
    await engine.execute(`CREATE VIEW ream AS SELECT ${columns} FROM ream_itself`)
    try {
      await use()
    } finally {
      await engine.execute('DROP VIEW ream')
      await engine.execute('ALTER TABLE ream_itself RENAME TO ream')
    }
  }

  it('answers so at once, keeps its connection, and knows what that has prepared', async () => {
    const url = withParameter(engine.url, 'application_name', engine.schema)
    const store = await openPostgresStore({ url, readConnections: 1 })
    const own = `SELECT pid FROM pg_stat_activity WHERE application_name = '${engine.schema}' ORDER BY pid`
    const pids = async () => (await engine.execute(own)).flat()
    try {
      await store.head('events')
      const before = await pids()
      await whileAway(async () => {
        // Those that went with it fail as well: what they need lies there too. Nothing of theirs was prepared.
        const asked = [store.page('events', 4), store.item('events', '1'), store.head('none')]
        for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
        await assert.rejects(store.page('events', 4), isError('unavailable'))
      })
      assert.deepEqual(await readPageTexts(store, 'events', 4), pagesOf(texts)[3])
      assert.deepEqual(await readPageTexts(store, 'events', 99), pagesOf(texts)[6])
      assert.equal(await store.head('none'), undefined)
      assert.deepEqual(await pids(), before)
    } finally {
      await store.close()
    }
  })

  it('says so of a write that was certainly undone, and not that nobody knows', async () => {
    await engine.store.create('lines')
    await engine.execute(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'connection refused' USING ERRCODE = '08006'; END $$`)
    await engine.execute(`CREATE TRIGGER away BEFORE INSERT ON tail EXECUTE FUNCTION ${engine.schema}.refuse()`)
    try {
      await assert.rejects(engine.store.append('lines', itemRun(['{"a":1}'])), isError('unavailable'))
    } finally {
      await engine.execute('DROP TRIGGER away ON tail')
    }
    assert.equal((await engine.store.head('lines'))?.live, 0)
    assert.equal((await engine.store.append('lines', itemRun(['{"a":1}']))).live, 1)
  })
})
