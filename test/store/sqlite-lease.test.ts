import assert from 'node:assert/strict'
import { backup, DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { newSubject } from './subject.ts'

const DAY_MS = 24 * 3600 * 1000

/** Columns of a lease. A tick is given as its age. */
interface Owner {
  readonly pid?: number
  readonly boot?: string
  readonly namespace?: string
  readonly ageMs?: number
  readonly wallAgeMs?: number
}

let opened: Awaited<ReturnType<typeof openSqliteForTest>>
const { store, filled, check } = newSubject(() => opened)

before(async () => {
  opened = await openSqliteForTest()
})
after(() => opened.remove())

describe('the lease of a load', () => {
  const NOT_HERE = 999_999_999
  for (const [title, owner, expected] of [
    ['of a process that is gone is dead at once', { pid: NOT_HERE }, false],
    ['of a process that runs is alive', {}, true],
    ['of a process that stands still is dead after 10 seconds', { ageMs: 11_000 }, false],
    ['is alive when the clock was put forward by a day', { wallAgeMs: DAY_MS }, true],
    ['is alive when the clock was put back by a day', { wallAgeMs: -DAY_MS }, true],
    ['is dead though the clock was put back by a day', { ageMs: 11_000, wallAgeMs: -DAY_MS }, false],
    ['of another container is not judged by a number', { pid: NOT_HERE, namespace: '1' }, true],
    ['of another container is dead after 10 seconds', { pid: NOT_HERE, namespace: '1', ageMs: 11_000 }, false],
    ['of another container is alive with the clock put forward', { namespace: '1', wallAgeMs: DAY_MS }, true],
    ['of another boot is judged by the clock', { pid: NOT_HERE, boot: 'another', ageMs: 50_000 }, true],
    ['of another boot is dead after 10 seconds', { boot: 'another', wallAgeMs: 11_000 }, false],
    ['of another boot is dead when it was renewed in the future', { boot: 'another', wallAgeMs: -DAY_MS }, false],
  ] as readonly [string, Owner, boolean][])
    it(title, async () => {
      const { pid = null, boot = null, namespace = null, ageMs = 0, wallAgeMs = 0 } = owner
      const name = await filled(3)
      const load = await store.load(name)
      // The holder is another one, lest the load renews its lease.
      const sql = `
        UPDATE lease SET holder = 'another', pid = coalesce(?, pid), boot = coalesce(?, boot),
          namespace = coalesce(?, namespace), renewed_tick = renewed_tick - ?, renewed_at = renewed_at - ?`
      using database = new DatabaseSync(opened.path)
      database.prepare(sql).run(pid, boot, namespace, ageMs, wallAgeMs)
      assert.deepEqual(await outcomesOf([store.append(name, keyed([item(10)]))]), [expected ? 'busy' : 'done'])
      await load.abort()
      database.exec('DELETE FROM lease')
    })

  it('is renewed by its holder also when the clock was put back', async () => {
    const load = await store.load(await filled(3))
    await opened.execute(`UPDATE lease SET renewed_at = renewed_at + ${DAY_MS}, renewed_tick = renewed_tick - 5000`)
    await load.append(keyed([item(10)]))
    const [[renewedAt] = []] = await opened.execute('SELECT renewed_at FROM lease')
    assert.ok(Number(renewedAt) <= Date.now())
    await load.commit()
  })
})

describe('a backup that was made during a load, and is put back before the load has ended,', () => {
  for (const isReplacement of [true, false])
    it(`lets the load fail, and keeps what was there before it (${isReplacement ? 'all replaced' : 'appended'})`, async () => {
      const { path } = opened
      const name = await filled(3)
      const load = await store.load(name, { isReplacement })
      await load.append(keyed(itemsFrom(10, 1000)))
      const copy = `${path}.${name}`
      using database = new DatabaseSync(path)
      await backup(database, copy)
      await load.append(keyed(itemsFrom(2000, 1000)))
      using saved = new DatabaseSync(copy)
      await backup(saved, path)
      await load.append(keyed(itemsFrom(4000, 1000)))
      await assert.rejects(load.commit(), isError('lease-lost'))
      await load.abort()
      await check(name, itemsFrom(0, 3))
      assert.deepEqual((await store.verify()).findings, [])
      await store.append(name, keyed([item(10)]))
    })
})
