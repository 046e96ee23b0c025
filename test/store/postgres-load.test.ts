import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { isError, itemsFrom, keyed } from './items.ts'
import { openPostgresForTest, type PostgresUnderTest } from './postgres-engine.ts'
import { describePostgres, type PostgresServer } from './postgres-server.ts'
import { readAllPages } from './store-reading.ts'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))

/** As if the holder of the lease had stood still for long. */
const AGE_LEASES = "UPDATE lease SET renewed_at = now() - interval '1 minute'"

const TABLES = ['ream', 'tail', 'key', 'lease', 'leftover']

describePostgres('a load into PostgreSQL', (startPostgres) => {
  let server: PostgresServer | undefined
  let opened: PostgresUnderTest

  before(async () => {
    server = await startPostgres()
  })
  after(() => server?.stop())

  const open = async (): Promise<void> => {
    assert.ok(server)
    opened = await openPostgresForTest(server)
    await opened.store.create('events', { keyField: 'id' })
    await opened.store.append('events', keyed(itemsFrom(0, 5000)))
  }
  const rowCounts = async () => {
    const counts = TABLES.map((table) => `(SELECT count(*)::integer FROM ${table})`)
    const [row = []] = await opened.execute(`SELECT ${counts.join(', ')}`)
    return Object.fromEntries(TABLES.map((table, index) => [table, row[index]]))
  }

  for (const task of ['load', 'replace'])
    it(`whose process was killed leaves the old state and nothing else (${task})`, async () => {
      await open()
      const { store } = opened
      const before = await store.head('events')
      const child = spawn(process.execPath, [CHILD, opened.url, task], { stdio: ['ignore', 'pipe', 'inherit'] })
      for (let steps = 0; steps < 12; ) steps += String((await once(child.stdout, 'data'))[0]).length
      await assert.rejects(store.append('events', keyed(['{"id":"x"}'])), isError('busy'))
      child.kill('SIGKILL')
      await once(child, 'exit')
      // Only time tells that nobody holds the lease any more.
      await assert.rejects(store.append('events', keyed(['{"id":"x"}'])), isError('busy'))
      assert.deepEqual(await store.head('events'), before)
      assert.deepEqual((await store.verify()).findings, [])
      await opened.execute(AGE_LEASES)
      await store.append('events', keyed(['{"id":"x"}']))
      assert.deepEqual((await readAllPages(store, 'events')).flat(), [...itemsFrom(0, 5000), '{"id":"x"}'])
      assert.deepEqual(await rowCounts(), { ream: 10, tail: 1, key: 5001, lease: 0, leftover: 0 })
      assert.deepEqual((await store.verify()).findings, [])
      await opened.remove()
    })

  it('whose process was killed before the collection was there leaves nothing', async () => {
    await open()
    const { store } = opened
    await store.drop('events')
    const child = spawn(process.execPath, [CHILD, opened.url, 'load'], { stdio: ['ignore', 'pipe', 'inherit'] })
    for (let steps = 0; steps < 5; ) steps += String((await once(child.stdout, 'data'))[0]).length
    child.kill('SIGKILL')
    await once(child, 'exit')
    await assert.rejects(store.create('events'), isError('busy'))
    await opened.execute(AGE_LEASES)
    await store.create('events')
    assert.deepEqual(await rowCounts(), { ream: 0, tail: 0, key: 0, lease: 0, leftover: 0 })
    await opened.remove()
  })

  it('that stood still is taken over, and then finds its lease gone', async () => {
    await open()
    const { store } = opened
    const load = await store.load('events')
    await load.append(keyed(itemsFrom(9000, 700)))
    await opened.execute(AGE_LEASES)
    const other = await openPostgresStore({ url: opened.url })
    await other.append('events', keyed(['{"id":"other"}']))
    await assert.rejects(load.append(keyed(itemsFrom(9700, 700))), isError('lease-lost'))
    await assert.rejects(load.commit(), isError('lease-lost'))
    await load.abort()
    assert.equal((await store.head('events'))?.live, 5001)
    assert.deepEqual((await store.verify()).findings, [])
    await other.close()
    await opened.remove()
  })

  it('that died is taken over also when the clock of the database was put back since', async () => {
    await open()
    const { store } = opened
    const load = await store.load('events')
    await opened.execute("UPDATE lease SET holder = 'another', renewed_at = now() + interval '1 day'")
    await store.append('events', keyed(['{"id":"other"}']))
    await assert.rejects(load.commit(), isError('lease-lost'))
    await load.abort()
    await opened.remove()
  })

  it('that was taken over cannot be committed, whatever it has written', async () => {
    await open()
    const { store } = opened
    for (const options of [{}, { isReplacement: true }, { onConflict: 'replace' }] as const) {
      const load = await store.load('events', options)
      await load.append(keyed(itemsFrom(9000, 700)))
      await opened.execute(AGE_LEASES)
      const { live } = await store.remove('events', '7')
      await assert.rejects(load.commit(), isError('lease-lost'))
      await load.abort()
      assert.equal((await store.head('events'))?.live, live)
      await store.append('events', keyed(['{"id":7}']))
    }
    assert.deepEqual((await store.verify()).findings, [])
    await opened.remove()
  })

  it('sweeps what others left behind anywhere', async () => {
    await open()
    const { store } = opened
    const forgotten = await store.load('forgotten', { settings: { keyField: 'id' } })
    await forgotten.append(keyed(itemsFrom(0, 1700)))
    await opened.execute(AGE_LEASES)
    const load = await store.load('events')
    await load.commit()
    assert.deepEqual(await rowCounts(), { ream: 10, tail: 0, key: 5000, lease: 0, leftover: 0 })
    await assert.rejects(forgotten.commit(), isError('lease-lost'))
    await forgotten.abort()
    await opened.remove()
  })

  it('that died behind its commit leaves what some later write removes', async () => {
    await open()
    await opened.execute(`
      INSERT INTO ream (shard_key, generation_id, number, count, raw_length, crc, gone, data)
      SELECT shard_key, 7, number, count, raw_length, crc, gone, data FROM ream`)
    await opened.execute('INSERT INTO leftover (shard_key, generation_id, base) SELECT shard_key, 7, 0 FROM head')
    const fresh = await openPostgresStore({ url: opened.url })
    await fresh.create('another')
    while ((await rowCounts())['leftover'] !== 0) await sleep(10)
    await fresh.close()
    assert.deepEqual(await rowCounts(), { ream: 10, tail: 0, key: 5000, lease: 0, leftover: 0 })
    await opened.remove()
  })

  it('that ended without a commit leaves nothing, also where it takes more than one step to remove it', async () => {
    await open()
    const { store } = opened
    const before = await store.head('events')
    const load = await store.load('events', { onConflict: 'replace' })
    const fresh = itemsFrom(0, 25_000)
    for (const turn of [1, 2]) await load.append(keyed(fresh.map((text) => text.replace('}', `,"turn":${turn}}`))))
    await load.abort()
    assert.deepEqual(await store.head('events'), before)
    assert.deepEqual(await rowCounts(), { ream: 10, tail: 0, key: 5000, lease: 0, leftover: 0 })
    assert.deepEqual((await readAllPages(store, 'events')).flat(), itemsFrom(0, 5000))
    await opened.remove()
  })

  it('keeps its lease while it waits for its input', async () => {
    await open()
    const { store } = opened
    const load = await store.load('events')
    await opened.execute("UPDATE lease SET renewed_at = now() - interval '9 seconds'")
    const isRenewed = async () => {
      const [[answer] = []] = await opened.execute("SELECT renewed_at > now() - interval '5 seconds' FROM lease")
      return answer === true
    }
    while (!(await isRenewed())) await sleep(100)
    await load.append(keyed(itemsFrom(9000, 10)))
    assert.equal((await load.commit()).head.live, 5010)
    await opened.remove()
  })
})
