import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWhileLoading } from './describe-abandoned-loads.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres } from './postgres-server.ts'
import { newSubject } from './subject.ts'

const TABLES = ['ream', 'tail', 'key', 'lease', 'leftover']

describePostgres('a load into PostgreSQL', (startPostgres) => {
  let opened: PostgresUnderTest
  const { store, filled, headOf } = newSubject(() => opened)

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

  it('lets its lease grow old when the database is away while it is aborted', async () => {
    const name = await filled(3)
    const load = await store.load(name)
    await opened.execute("UPDATE lease SET renewed_at = now() - interval '9 seconds'")
    await opened.execute('ALTER TABLE lease RENAME TO away')
    await assert.rejects(load.abort(), isError('missing-store'))
    await opened.execute('ALTER TABLE away RENAME TO lease')
    // A lease is renewed every two seconds.
    await sleep(2_500)
    const old = "SELECT count(*)::integer FROM lease WHERE renewed_at < now() - interval '9 seconds'"
    assert.deepEqual(await opened.execute(old), [[1]])
    await opened.ageLeases()
    await (await store.load(name)).commit()
  })

  it('keeps its lease while it waits for its input', async () => {
    const name = await filled(3)
    const load = await store.load(name)
    await opened.execute("UPDATE lease SET renewed_at = now() - interval '9 seconds'")
    const isRenewed = async () => {
      const answer = await opened.execute("SELECT renewed_at > now() - interval '5 seconds' FROM lease")
      return answer.flat()[0] === true
    }
    while (!(await isRenewed())) await sleep(100)
    await load.append(keyed(itemsFrom(9000, 10)))
    await load.commit()
    assert.equal((await headOf(name)).live, 13)
  })
})
