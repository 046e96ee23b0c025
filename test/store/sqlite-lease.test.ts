import assert from 'node:assert/strict'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { putLines } from '../cli/items.ts'
import { RunningCli, runCli, workDirectory } from '../cli/run-cli.ts'
import { lackOf, PID_NAMESPACES } from '../faults/needs.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { readItems } from './store-reading.ts'

const DAY_MS = 24 * 3600 * 1000

/** Columns of a lease. A tick is given as its age. */
interface Owner {
  readonly pid?: number
  readonly boot?: string
  readonly namespace?: string
  readonly ageMs?: number
  readonly wallAgeMs?: number
}

/** A store with three items, and a database connection for what only a test does. */
async function makeStore(t: TestContext) {
  const directory = workDirectory(t)
  await putLines(directory, 'events', itemsFrom(0, 3).join('\n'), { keyField: 'id' })
  const path = join(directory, 'reams.db')
  const store = await openSqliteStore({ path })
  const database = new DatabaseSync(path)
  t.after(async () => {
    database.close()
    await store.close()
  })
  return { directory, path, store, database }
}

describe('the lease of a load', () => {
  /** Whether the load keeps others out that another process, of this owner, might have begun. */
  const isAlive = async (
    t: TestContext,
    { pid, boot, namespace, ageMs = 0, wallAgeMs = 0 }: Owner,
  ): Promise<boolean> => {
    const { store, database } = await makeStore(t)
    const load = await store.load('events')
    // The holder is another one, lest the load renews its lease.
    const sql = `
      UPDATE lease SET holder = 'another', pid = coalesce(?, pid), boot = coalesce(?, boot),
        namespace = coalesce(?, namespace), renewed_tick = renewed_tick - ?, renewed_at = renewed_at - ?`
    database.prepare(sql).run(pid ?? null, boot ?? null, namespace ?? null, ageMs, wallAgeMs)
    try {
      await store.append('events', keyed([item(10)]))
      return false
    } catch (error) {
      assert.ok(isError('busy')(error), String(error))
      return true
    } finally {
      await load.abort()
    }
  }

  const NOT_HERE = 999_999_999
  const cases: readonly (readonly [string, Owner, boolean])[] = [
    ['of a process that is gone is dead at once', { pid: NOT_HERE }, false],
    ['of a process that runs is alive', {}, true],
    ['of a process that stands still is dead after 10 seconds', { ageMs: 11_000 }, false],
    ['is alive when the clock was put forward by a day', { wallAgeMs: DAY_MS }, true],
    ['is alive when the clock was put back by a day', { wallAgeMs: -DAY_MS }, true],
    [
      'of a process that stands still is dead, though the clock was put back by a day',
      { ageMs: 11_000, wallAgeMs: -DAY_MS },
      false,
    ],
    ['of another container is not judged by a number that means nothing here', { pid: NOT_HERE, namespace: '1' }, true],
    ['of another container is dead after 10 seconds', { pid: NOT_HERE, namespace: '1', ageMs: 11_000 }, false],
    [
      'of another container is alive when the clock was put forward by a day',
      { namespace: '1', wallAgeMs: DAY_MS },
      true,
    ],
    [
      'of another machine, or of this one before a restart, is judged by the clock',
      { pid: NOT_HERE, boot: 'another', ageMs: 50_000 },
      true,
    ],
    ['of another machine is dead after 10 seconds', { boot: 'another', wallAgeMs: 11_000 }, false],
    ['of another machine is dead when it was renewed in the future', { boot: 'another', wallAgeMs: -DAY_MS }, false],
  ]
  for (const [title, owner, expected] of cases) it(title, async (t) => assert.equal(await isAlive(t, owner), expected))

  it('is renewed by its holder also when the clock was put back', async (t) => {
    const { store, database } = await makeStore(t)
    const load = await store.load('events')
    database.exec(`UPDATE lease SET renewed_at = renewed_at + ${DAY_MS}, renewed_tick = renewed_tick - 5000`)
    await load.append(keyed([item(10)]))
    const renewed = database.prepare('SELECT renewed_at AS at FROM lease').get()
    assert.ok(Number(renewed?.['at']) <= Date.now())
    await load.commit()
  })
})

describe('a backup that was made during a load, and is put back before the load has ended,', () => {
  for (const isReplacement of [true, false])
    it(`lets the load fail, and keeps what was there before it (${isReplacement ? 'all replaced' : 'appended'})`, async (t) => {
      const { directory, path, store, database } = await makeStore(t)
      const load = await store.load('events', { isReplacement })
      await load.append(keyed(itemsFrom(10, 1000)))
      const copy = join(directory, 'backup.db')
      await backup(database, copy)
      await load.append(keyed(itemsFrom(2000, 1000)))
      using saved = new DatabaseSync(copy)
      await backup(saved, path)
      await load.append(keyed(itemsFrom(4000, 1000)))
      await assert.rejects(load.commit(), isError('lease-lost'))
      await load.abort()
      assert.equal((await readItems(store, 'events')).length, 3)
      assert.deepEqual((await store.verify()).findings, [])
      await store.append('events', keyed([item(10)]))
    })
})

describe('an import beside another container of the same host name', () => {
  const WORDS = ['import', 'events', '-', '--format', 'ndjson']
  const IN_CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

  for (const [who, holder, writer] of [
    ['outside', [], IN_CONTAINER],
    ['in it', IN_CONTAINER, []],
  ] as const)
    it(`goes on when the other one wants to write too (the import runs ${who})`, async (t) => {
      const lack = await lackOf([PID_NAMESPACES])
      if (lack !== undefined) return t.skip(lack)
      const { directory, store, database } = await makeStore(t)
      const importing = new RunningCli(WORDS, { in: directory, under: holder })
      t.after(() => importing.child.kill('SIGKILL'))
      await importing.writes(`${item(3)}\n`)
      for (let tries = 0; database.prepare('SELECT 1 FROM lease').get() === undefined; tries++) {
        assert.ok(tries < 3_000, importing.stderr)
        await sleep(10)
      }
      const refused = await runCli(WORDS, { in: directory, under: writer, input: `${item(10)}\n` })
      assert.match(
        refused.stderr,
        /^reams: An import, a copy or a compaction of "events" has been running since .* \(process \d+ on \S+\)\. /,
      )
      assert.equal(refused.status, 3)
      importing.child.stdin?.end(`${item(4)}\n`)
      assert.equal((await importing.ends()).status, 0, importing.stderr)
      assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 5))
    })
})
