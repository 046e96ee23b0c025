import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { itemRun } from '../../src/items/item-run.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { SharedReads, SharedRun } from '../../src/store/postgres/read/shared-reads.ts'
import { PostgresRows } from '../../src/store/postgres/rows/postgres-rows.ts'
import type { Rows } from '../../src/store/postgres/rows/rows.ts'
import { Connections } from '../../src/store/postgres/server/connection.ts'
import { readStoreUrl } from '../../src/store/postgres/server/store-url.ts'
import { runAsync } from '../../src/store/rows.ts'
import { readToken } from '../../src/store/stored-tokens.ts'
import { isError, itemsFrom, outcomesOf } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest, withParameter } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { pagesOf, readPageTexts } from './store-reading.ts'

describePostgres('reads from PostgreSQL that come at the same time', (startPostgres, isCitus) => {
  const texts = itemsFrom(1, 3_250)
  const pages = pagesOf(texts)
  let engine: PostgresUnderTest

  before(async () => {
    engine = await openPostgresForTest(await startPostgres())
    await engine.store.create('events')
    await engine.store.append('events', itemRun(texts))
  })
  after(() => engine?.remove())

  it('send a statement once for all who want the same head or token in one turn, and anew in the next', async () => {
    let sent = 0
    class CountedConnections extends Connections {
      override retry<T>(use: (rows: Rows) => Promise<T>): Promise<T> {
        return super.retry((rows) => {
          const together: Rows['together'] = (asked, onFound) => {
            sent += asked.length
            return rows.together(asked, onFound)
          }
          return use(Object.assign(Object.create(rows), { together }))
        })
      }
    }
    const hash = 'a'.repeat(64)
    await engine.store.addToken({ name: 'one', hash, scopes: ['read'], createdAt: 1, expiresAt: null, revokedAt: null })
    const options = { mostConnections: 4, isPipelined: true, statementMs: 5_000 }
    const connections = new CountedConnections(readStoreUrl(engine.url), options)
    const rows = new PostgresRows(new SharedReads(connections))
    for (let round = 1; round <= 2; round++) {
      const found = await Promise.all(
        Array.from({ length: 20 }, async () => [
          (await rows.readHead('events'))?.live,
          await rows.readHead('nothing'),
          (await runAsync(readToken(hash), rows))?.name,
          await runAsync(readToken('b'.repeat(64)), rows),
        ]),
      )
      for (const each of found) assert.deepEqual(each, [3_250, undefined, 'one', undefined])
      assert.equal(sent, 4 * round)
    }
    await connections.close()
  })

  it('are none the worse for one whose row cannot be read, from the first on', async () => {
    const change = (sign: string) =>
      engine.execute(`UPDATE ream SET raw_length = raw_length ${sign} (1::bigint << 60) WHERE number = 3`)
    await change('+')
    // Its connections know nothing yet.
    const store = await engine.openAgain()
    const reads = await Promise.allSettled(pages.map((_, index) => readPageTexts(store, 'events', index + 1)))
    await change('-')
    await store.close()
    for (const [index, outcome] of reads.entries())
      if (index !== 3) assert.deepEqual(outcome, { status: 'fulfilled', value: pages[index] })
      else assert.match(String(outcome.status === 'rejected' && outcome.reason), /no integer that can be kept/)
  })

  it('all fail when one of them takes too long: the others would keep everybody waiting in turn', async () => {
    const expression = 'count + (SELECT 0 FROM pg_sleep(CASE number WHEN 2 THEN 30 ELSE 0 END))'
    await engine.withReamView('count', expression, async () => {
      const store = await openPostgresStore({ url: engine.url, readConnections: 1, statementMs: 500 })
      await store.head('events')
      const outcomes = await outcomesOf([1, 2, 3, 4, 5, 6].map((page) => store.page('events', page)))
      await store.close()
      assert.deepEqual(
        outcomes.map((outcome) => outcome === 'done'),
        [true, true, false, false, false, false],
      )
    })
  })

  // As Citus says of a worker; here a function says so in its place.
  it('are told that another server is away, keep their connection, and know what that has prepared', async (t) => {
    if (isCitus) return t.skip('there the workers themselves are ended: test/service/citus-outages.test.ts')
    await engine.execute(`
      CREATE FUNCTION away(number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
          IF number = 3 THEN RAISE EXCEPTION 'connection refused' USING ERRCODE = '08006'; END IF;
          RETURN number;
        END $$`)
    const url = withParameter(engine.url, 'application_name', engine.schema)
    const store = await openPostgresStore({ url, readConnections: 1 })
    const own = `SELECT pid FROM pg_stat_activity WHERE application_name = '${engine.schema}' ORDER BY pid`
    await store.head('events')
    const pids = await engine.execute(own)
    await engine.withReamView('number', `number + 0 * ${engine.schema}.away(number)`, async () => {
      // Those that went with it fail as well: what they need lies there too. Nothing of theirs was prepared.
      const asked = [store.page('events', 4), store.item('events', '1'), store.head('none')]
      for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
      await assert.rejects(store.page('events', 4), isError('unavailable'))
    })
    assert.deepEqual(await readPageTexts(store, 'events', 4), pages[3])
    assert.deepEqual(await readPageTexts(store, 'events', 99), pages[6])
    assert.equal(await store.head('none'), undefined)
    assert.deepEqual(await engine.execute(own), pids)
    await store.close()
  })

  it('a write that was certainly undone because another server is away is not said to have an unknown outcome', async (t) => {
    if (isCitus) return t.skip('Citus takes no triggers')
    await engine.store.create('lines')
    await engine.execute(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'connection refused' USING ERRCODE = '08006'; END $$`)
    await engine.execute(`CREATE TRIGGER away BEFORE INSERT ON tail EXECUTE FUNCTION ${engine.schema}.refuse()`)
    const append = () => engine.store.append('lines', itemRun(['{"a":1}']))
    await assert.rejects(append(), isError('unavailable')).finally(() => engine.execute('DROP TRIGGER away ON tail'))
    assert.equal((await engine.store.head('lines'))?.live, 0)
    assert.equal((await append()).live, 1)
  })
})

describe('something that runs once for all who ask', () => {
  it('runs once at a time, and answers with what was found after one has asked', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const run = new SharedRun(async () => {
      const number = ++runs
      most = Math.max(most, ++running)
      await turn()
      await turn()
      running--
      return number
    })
    const first = run.ask()
    const [second, third] = [run.ask(), run.ask()]
    assert.equal(await first, 1)
    const late = run.ask()
    assert.deepEqual(await Promise.all([second, third]), [2, 2])
    assert.ok((await late) >= 2)
    assert.ok((await run.ask()) > 2)
    assert.equal(most, 1)
  })

  it('goes on after a run that failed', async () => {
    let isBroken = true
    const run = new SharedRun(async () => {
      if (isBroken) throw new Error('broken')
      return 'well'
    })
    const asked = [run.ask(), run.ask()]
    for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
    isBroken = false
    assert.equal(await run.ask(), 'well')
  })
})
