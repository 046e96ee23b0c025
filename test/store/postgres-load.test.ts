import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../wait-until.ts'
import { killWhileLoading } from './describe-abandoned-loads.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { newSubject } from './subject.ts'

const TABLES = ['ream', 'tail', 'key', 'lease', 'leftover']

describePostgres('a load into PostgreSQL', (startPostgres) => {
  let opened: PostgresUnderTest
  const { store, filled } = newSubject(() => opened)

  before(async () => {
    opened = await openPostgresForTest(await startPostgres())
  })
  after(() => opened?.remove())

  const rowCounts = async () => {
    const counts = TABLES.map((table) => `(SELECT count(*)::integer FROM ${table})`)
    return (await opened.execute(`SELECT ${counts.join(', ')}`)).flat()
  }

  it('whose process was killed before the collection was there leaves nothing, once its lease is old', async () => {
    await killWhileLoading(opened.url, ['load', 'events'])
    // Only time tells that nobody holds the lease any more.
    await assert.rejects(store.create('events'), isError('busy'))
    await opened.ageLeases()
    await store.create('events')
    // What tidies up behind writes may have been first, and still be at it.
    while ((await rowCounts()).some((count) => count !== 0)) await sleep(10)
  })

  it('sweeps what others left behind anywhere', async () => {
    const forgotten = await store.load('forgotten', { settings: { keyField: 'id' } })
    await forgotten.append(keyed(itemsFrom(0, 1700)))
    await opened.ageLeases()
    await (await store.load('events')).commit()
    assert.deepEqual(await rowCounts(), [0, 0, 0, 0, 0])
    await assert.rejects(forgotten.commit(), isError('lease-lost'))
    await forgotten.abort()
  })

  it('keeps nobody waiting who notes what its collection follows, not even while it commits', async () => {
    const name = await filled(3)
    const following = { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 }
    const release = await opened.holdHead(name)
    await store.noteFollowing(name, following)
    await release()
    assert.deepEqual(await store.followings(), [{ name, ...following }])
  })

  it('that died is taken over also when the clock of the database was put back since', async () => {
    const name = await filled(3)
    const load = await store.load(name)
    await opened.execute("UPDATE lease SET holder = 'another', renewed_at = now() + interval '1 day'")
    await store.append(name, keyed([item(3)]))
    await assert.rejects(load.commit(), isError('lease-lost'))
    await load.abort()
  })

  // Each waits for seconds: all at the same time, each in a store of its own.
  describe('with time', { concurrency: true }, () => {
    const openFor = async (t: TestContext) => {
      const { store, execute, ageLeases, holdHead, remove } = await openPostgresForTest(await startPostgres())
      t.after(remove)
      await store.create('events', { keyField: 'id' })
      return { store, execute, ageLeases, holdHead }
    }
    const NINE_SECONDS_AGO = "now() - interval '9 seconds'"

    it('lets its lease grow old when the database is away while it is aborted', async (t) => {
      const { store, execute, ageLeases } = await openFor(t)
      const load = await store.load('events')
      await execute(`UPDATE lease SET renewed_at = ${NINE_SECONDS_AGO}`)
      await execute('ALTER TABLE lease RENAME TO away')
      await assert.rejects(load.abort(), isError('missing-store'))
      await execute('ALTER TABLE away RENAME TO lease')
      // A lease is renewed every two seconds.
      await sleep(2_500)
      const old = `SELECT count(*)::integer FROM lease WHERE renewed_at < ${NINE_SECONDS_AGO}`
      assert.deepEqual(await execute(old), [[1]])
      await ageLeases()
      await (await store.load('events')).commit()
    })

    it('keeps its lease while it waits for its input', async (t) => {
      const { store, execute } = await openFor(t)
      const load = await store.load('events')
      await execute(`UPDATE lease SET renewed_at = ${NINE_SECONDS_AGO}`)
      await waitUntil(async () => {
        const answer = await execute("SELECT renewed_at > now() - interval '5 seconds' FROM lease")
        return answer.flat()[0] === true
      })
      await load.append(keyed(itemsFrom(9000, 10)))
      assert.equal((await load.commit()).head.live, 10)
    })

    it('an append waits no longer than a while for a collection that another process holds', async (t) => {
      const { store, holdHead } = await openFor(t)
      const release = await holdHead('events')
      try {
        await assert.rejects(store.append('events', keyed([item(7)])), isError('unavailable'))
        assert.equal((await store.page('events', 1))?.head.live, 0)
      } finally {
        await release()
      }
      await store.append('events', keyed([item(7)]))
    })
  })
})
