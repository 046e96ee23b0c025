import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, TMPFS } from '../faults/needs.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { changeRows } from '../store/sqlite-rows.ts'
import { readItems } from '../store/store-reading.ts'
import { eventLines, putLines } from './items.ts'
import { RunningCli, runCli, runInside, startServer, workDirectory } from './run-cli.ts'

const WRITER = fileURLToPath(new URL('../store/child-writer.ts', import.meta.url))

/** A store `reams.db` with a collection and a token. */
async function filled(t: TestContext, items = 1234): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', eventLines(items), { keyField: 'id' })
  await run(directory, 'token create --name app --scope admin')
  return directory
}

function run(directory: string, words: string, variables: Record<string, string> = {}) {
  return runInside(words.split(' '), { in: directory, variables })
}

async function refused(directory: string, words: string, status: number, message: RegExp): Promise<void> {
  const before = readdirSync(directory)
  const result = await run(directory, words)
  assert.match(result.stderr, message)
  assert.deepEqual([result.status, result.stdout], [status, ''])
  assert.equal(result.stderr.trimEnd().split('\n').length, 1)
  assert.deepEqual(readdirSync(directory), before, 'nothing is left')
}

describe('backup', () => {
  // Before any backup inside this process: not everybody can take back that it gives way, as its children do from then on.
  it('gives way to others while it verifies', async (t) => {
    const directory = await filled(t, 50_000)
    assert.equal(getPriority(), 0)
    const { child } = new RunningCli(['backup', 'b.db'], { in: directory })
    const ended = once(child, 'close')
    // Fails with ESRCH if the process ends before.
    while (getPriority(child.pid) < constants.priority.PRIORITY_BELOW_NORMAL) await sleep(1)
    await ended
  })

  it('of a served store is complete in itself, for its owner alone, and can be restored', async (t) => {
    const directory = await filled(t)
    const { get } = await startServer(t, [], { in: directory })
    const { status, stdout, stderr } = await run(directory, 'backup b.db')
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    assert.match(
      stdout,
      /^b\.db: 1 collection with 1,234 items, \d+ KB; copied in .*, every item.* verified in .*\.\n$/,
    )
    assert.deepEqual(
      readdirSync(directory).filter((name) => !name.startsWith('reams.db')),
      ['b.db', 'tmp'],
    )
    assert.equal(statSync(join(directory, 'b.db')).mode & 0o777, 0o600)
    assert.equal((await get('/events?page=2')).status, 200)
    const restored = await run(directory, 'restore b.db --store new.db')
    assert.match(restored.stdout, /^new\.db: 1 collection with 1,234 items, .* verified in /)
    assert.equal(statSync(join(directory, 'new.db')).mode & 0o777, 0o600)
    assert.equal((await run(directory, 'export events --store new.db')).stdout, eventLines(1234))
    assert.match((await run(directory, 'token list --store new.db')).stdout, /app +active/)
  })

  it('follows nothing, nor does what is restored or copied of it', async (t) => {
    const directory = await filled(t)
    const inStore = <T>(file: string, use: (store: Store) => Promise<T>) =>
      withStore(new DataLocation(join(directory, file)), {}, use)
    const following = { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 }
    await inStore('reams.db', (store) => store.noteFollowing('events', following))
    for (const words of ['backup b.db', 'copy --from reams.db --to c.db', 'restore reams.db --store d.db'])
      assert.equal((await run(directory, words)).status, 0)
    for (const file of ['b.db', 'c.db', 'd.db'])
      assert.deepEqual(await inStore(file, (store) => store.followings()), [], file)
    assert.equal((await inStore('reams.db', (store) => store.followings())).length, 1)
  })

  it('while processes write is a state that was, with all that was acknowledged before', async (t) => {
    const directory = await filled(t, 20_000)
    const path = join(directory, 'reams.db')
    const writers = [1, 2].map(() => spawn(process.execPath, [WRITER, path, 'append', '1000000', '2']))
    t.after(() => writers.forEach((writer) => void writer.kill('SIGKILL')))
    const count = (store: string) =>
      withStore(new DataLocation(join(directory, store)), {}, async (s) => (await s.head('events'))?.live ?? 0)
    while ((await count('reams.db')) < 20_050) await sleep(10)
    for (let round = 1; round <= 4; round++) {
      const atLeast = await count('reams.db')
      // A checkpoint at any time, as those of writers are.
      const folding = setInterval(() => fold(path), 3)
      const { status, stderr } = await runCli(['backup', `${round}.db`], { in: directory }).finally(() =>
        clearInterval(folding),
      )
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
      const items = await count(`${round}.db`)
      assert.ok(items >= atLeast && items <= (await count('reams.db')), `${atLeast} <= ${items}`)
    }
    for (const writer of writers) assert.equal(writer.exitCode, null, 'a writer failed')
  })

  it('is readable for nobody else at any time, whatever the umask', async (t) => {
    const directory = await filled(t, 10_000)
    const cli = new RunningCli(['backup', 'b.db'], { in: directory, under: ['sh', '-c', 'umask 0; exec "$@"', 'sh'] })
    const ended = once(cli.child, 'close')
    const modes = new Map<string, number>()
    for (let isEnded = false; !isEnded; isEnded = await Promise.race([ended.then(() => true), sleep(1, false)]))
      for (const name of readdirSync(directory).filter((each) => /^(reams-|b\.db)/.test(each)))
        modes.set(name, statSync(join(directory, name), { throwIfNoEntry: false })?.mode ?? 0)
    assert.ok(modes.size >= 2, 'a directory of its own, then the file')
    for (const [name, mode] of modes) assert.equal(mode & 0o077, 0, name)
  })

  it('that is interrupted leaves nothing', async (t) => {
    const directory = await filled(t, 100_000)
    const before = readdirSync(directory)
    const cli = new RunningCli(['backup', 'b.db'], { in: directory })
    while (!readdirSync(directory).some((name) => name.startsWith('reams-part-'))) await sleep(1)
    const { status, stderr } = await cli.stop('SIGTERM')
    assert.deepEqual([status, stderr], [143, 'reams: interrupted by SIGTERM; nothing was changed.\n'])
    assert.deepEqual(readdirSync(directory), before)
  })

  it('overwrites a file only with --force, and never the store itself or one in use', async (t) => {
    const directory = await filled(t)
    writeFileSync(join(directory, 'b.db'), 'precious', { mode: 0o644 })
    await refused(directory, 'backup b.db', 2, /^reams: b\.db already exists\. Name another file, or add --force/)
    assert.equal(readFileSync(join(directory, 'b.db'), 'utf8'), 'precious')
    symlinkSync('reams.db', join(directory, 'link.db'))
    linkSync(join(directory, 'reams.db'), join(directory, 'hard.db'))
    for (const name of ['reams.db', './reams.db', 'link.db', 'hard.db'])
      for (const flag of ['', ' --force'])
        await refused(
          directory,
          `backup ${name}${flag}`,
          2,
          /^reams: \S+ is the store to back up itself\. Name another/,
        )
    for (const suffix of ['-wal', '-shm', '-journal', '-reserve'])
      await refused(
        directory,
        `backup reams.db${suffix} --force`,
        2,
        /^reams: \S+ is the name of a file that (SQLite|Reams) keeps/,
      )
    await refused(
      directory,
      'backup postgres://a:secret@b/c',
      2,
      /^reams: A backup is a file, and postgres:\/\/a@b\/c is/,
    )
    writeFileSync(join(directory, 'b.db-wal'), '')
    await refused(directory, 'backup b.db --force', 2, /^reams: b\.db-wal is there: b\.db is a store in use/)
    await refused(directory, 'backup tmp --force', 2, /^reams: tmp is a directory/)
    await refused(directory, 'backup /dev/null --force', 2, /^reams: A backup must be a file, and \/dev\/null is none/)
    await refused(directory, 'backup - --force', 2, /^reams: A backup must be a file/)
    const { status } = await run(directory, 'backup tmp/../c.db')
    assert.equal(status, 0)
    chmodSync(join(directory, 'c.db'), 0o644)
    assert.equal((await run(directory, 'backup c.db --force')).status, 0)
    assert.equal(statSync(join(directory, 'c.db')).mode & 0o777, 0o600)
  })

  it('of no store, to no directory, or of another file says so', async (t) => {
    const directory = await filled(t)
    writeFileSync(join(directory, 'notes.txt'), 'precious'.repeat(100))
    await refused(
      directory,
      'backup b.db --store no.db',
      2,
      /^reams: There is no store at no\.db to back up\. Check --s/,
    )
    await refused(directory, 'backup b.db --store notes.txt', 2, /^reams: notes\.txt is not a Reams store/)
    await refused(directory, 'backup b.db --store tmp', 2, /^reams: tmp is not a Reams store: it is a directory/)
    await refused(directory, 'backup no/b.db', 2, /^reams: no\/b\.db cannot be written: its directory does not exist/)
  })

  it('of a damaged store fails, says what is wrong, and leaves nothing', async (t) => {
    const directory = await filled(t)
    const path = join(directory, 'reams.db')
    changeRows(path, "UPDATE tail SET item = '{}' WHERE position = 1233")
    await refused(
      directory,
      'backup b.db',
      3,
      /^reams: The copy of reams\.db is damaged, so it was removed \(\d+ problem/,
    )
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(7, 8192 * 3, 8192 * 6))
    await refused(directory, 'backup b.db', 3, /^reams: .* damaged/)
  })

  it('onto a full disk leaves nothing there', async (t) => {
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    const directory = await filled(t, 50_000)
    using disk = mountTmpfs(directory, 1)
    for (const words of ['backup tmpfs/b.db', 'restore reams.db --store tmpfs/b.db']) {
      const { status, stderr } = await run(directory, words)
      assert.deepEqual([status, stderr], [3, 'reams: tmpfs/b.db cannot be written: the disk is full.\n'])
      assert.deepEqual(readdirSync(disk.path), [])
    }
  })
})

describe('restore', () => {
  it('refuses a store that exists, or the log of one', async (t) => {
    const directory = await filled(t)
    await run(directory, 'backup b.db')
    await refused(
      directory,
      'restore b.db',
      2,
      /^reams: There already is something at reams\.db, which was left unchanged/,
    )
    writeFileSync(join(directory, 'empty'), '')
    await refused(directory, 'restore b.db --store empty', 2, /^reams: There already is something at empty/)
    writeFileSync(join(directory, 'new.db-wal'), 'of another store')
    await refused(
      directory,
      'restore b.db --store new.db',
      2,
      /^reams: new\.db-wal is there: new\.db is a store in use/,
    )
    await refused(
      directory,
      'restore b.db --store no/new.db',
      2,
      /^reams: no\/new\.db cannot be written: its directory/,
    )
  })

  it('refuses what is not a backup, or a damaged one', async (t) => {
    const directory = await filled(t)
    writeFileSync(join(directory, 'notes.txt'), 'precious'.repeat(100))
    writeFileSync(join(directory, 'short'), '')
    new DatabaseSync(join(directory, 'other.db')).exec('CREATE TABLE a (b)')
    for (const name of ['notes.txt', 'short', 'other.db'])
      await refused(
        directory,
        `restore ${name} --store n.db`,
        2,
        /^reams: \S+ is not a backup of a Reams store\. Name a/,
      )
    await refused(directory, 'restore postgres://a:secret@b/c --store n.db', 2, /no backup postgres:\/\/a@b\/c: it/)
    for (const name of ['tmp', 'missing'])
      await refused(
        directory,
        `restore ${name} --store n.db`,
        2,
        /^reams: There is no backup \S+: it is missing, or no/,
      )
    await run(directory, 'backup b.db')
    changeRows(join(directory, 'b.db'), "UPDATE tail SET item = '{}' WHERE position = 1233")
    await refused(directory, 'restore b.db --store n.db', 3, /^reams: The copy of b\.db is damaged, so it was removed/)
    writeFileSync(join(directory, 'b.db'), readFileSync(join(directory, 'b.db')).fill(255, 100, 108))
    await refused(directory, 'restore b.db --store n.db', 3, /^reams: The store b\.db is damaged/)
  })

  it('refuses a backup that somebody put a trigger into, as a backup of such a store is refused', async (t) => {
    const directory = await filled(t)
    await run(directory, 'backup b.db')
    changeRows(join(directory, 'b.db'), 'CREATE TRIGGER undo AFTER INSERT ON token BEGIN DELETE FROM head; END')
    await refused(
      directory,
      'restore b.db --store n.db',
      3,
      /^reams: The store b\.db has the trigger "undo", which Reams/,
    )
    // Opening it leaves the two files that SQLite needs to read it.
    await run(directory, 'verify --store b.db')
    await refused(
      directory,
      'backup c.db --store b.db',
      3,
      /^reams: The store b\.db has the trigger "undo", which Reams/,
    )
  })

  it('takes a backup from a directory that cannot be written to', async (t) => {
    const directory = await filled(t)
    mkdirSync(join(directory, 'shelf'))
    await run(directory, 'backup shelf/b.db')
    chmodSync(join(directory, 'shelf'), 0o555)
    assert.equal((await run(directory, 'restore shelf/b.db --store new.db')).status, 0)
    assert.deepEqual(readdirSync(join(directory, 'shelf')), ['b.db'])
  })

  it('gives a state that later writes tell apart from those of the store that it was made from', async (t) => {
    const directory = await filled(t)
    await run(directory, 'backup b.db')
    await run(directory, 'restore b.db --store new.db')
    const idsAfter = (file: string, isPrivate?: boolean) =>
      withStore(new DataLocation(join(directory, file)), {}, async (store) => {
        if (isPrivate !== undefined) await store.setPrivate('events', isPrivate)
        const head = await store.head('events')
        return { version: head?.version, commitId: head?.commitId }
      })
    assert.deepEqual(await idsAfter('new.db'), await idsAfter('reams.db'))
    const [one, other] = [await idsAfter('new.db', true), await idsAfter('reams.db', true)]
    assert.equal(one.version, other.version)
    assert.notEqual(one.commitId, other.commitId)
  })
})

describePostgres('a backup of PostgreSQL', (startPostgres) => {
  let server: PostgresServer
  const schemas: string[] = []
  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    for (const schema of schemas) await runSql(server.url, '', `DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await server?.stop()
  })
  const newUrl = (): string => {
    schemas.push(newSchema())
    return withParameter(server.url, 'schema', schemas.at(-1) ?? '')
  }

  it('is a file like any other, and restores to a database that has none', async (t) => {
    const directory = await filled(t)
    const [one, other] = [newUrl(), newUrl()]
    const missing = await run(directory, 'backup p.db', { REAMS_STORE: one })
    assert.match(missing.stderr, /^reams: There is no store at .* to back up\. Check --store\.\n$/)
    const restored = await run(directory, 'restore reams.db', { REAMS_STORE: one })
    assert.deepEqual([restored.status, restored.stderr], [0, ''])
    assert.match(restored.stdout, /restored from reams\.db\.\n$/)
    const backup = await run(directory, 'backup p.db', { REAMS_STORE: one })
    assert.deepEqual([backup.status, backup.stderr], [0, ''])
    assert.match(
      backup.stdout,
      /^events: 1,234 items, .*SHA-256[\s\S]*^p\.db: 1 collection with 1,234 items, .* verified/m,
    )
    assert.equal(statSync(join(directory, 'p.db')).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('p.db') || name.startsWith('reams-')),
      ['p.db'],
    )
    assert.equal((await run(directory, 'restore p.db', { REAMS_STORE: other })).status, 0)
    const items = await withStore(new DataLocation(other), {}, (store) => readItems(store, 'events'))
    assert.equal(items.map((line) => `${line}\n`).join(''), eventLines(1234))
    assert.match((await run(directory, 'token list', { REAMS_STORE: other })).stdout, /app +active/)
    const again = await run(directory, 'restore p.db', { REAMS_STORE: other })
    assert.match(again.stderr, /^reams: There already is something at postgres:.* left unchanged/)
    assert.equal(again.status, 2)
  })

  it('of a mirror, and a backup of a file, is a mirror that goes on where it was, from and to either engine', async (t) => {
    const [home, away] = [workDirectory(t), workDirectory(t)]
    await putLines(home, 'events', eventLines(700), { keyField: 'id' })
    const token = (await run(home, 'token create --name app --scope admin')).stdout.trim()
    const { url } = await startServer(t, [], { in: home })
    const headers = { Authorization: `Bearer ${token}` }
    const [one, other] = [newUrl(), newUrl()]
    const succeeds = async (words: string, store = 'reams.db') => {
      const { status, stdout, stderr } = await run(away, words, { REAMS_STORE: store })
      assert.equal(status, 0, stdout + stderr)
    }
    await succeeds(`mirror ${url}/events --once`)
    await succeeds('set events --retention 1h')
    const place = (store: string) => new DataLocation(store.startsWith('postgres:') ? store : join(away, store))
    const headIn = (store: string) => withStore(place(store), {}, (opened) => opened.head('events'))
    const before = await headIn('reams.db')
    assert.equal(before?.origin?.url, `${url}/events`)
    await succeeds('backup file.db')
    await succeeds('restore file.db', 'restored.db')
    await succeeds('restore file.db', one)
    await succeeds('backup database.db', one)
    await succeeds('restore database.db', other)
    await succeeds('restore database.db', 'again.db')
    assert.equal((await fetch(`${url}/events/7`, { method: 'DELETE', headers })).status, 204)
    for (const store of ['file.db', 'restored.db', one, 'database.db', other, 'again.db']) {
      const head = await headIn(store)
      assert.deepEqual([head?.origin, head?.retentionMs], [before?.origin, 3_600_000], store)
      assert.deepEqual(await withStore(place(store), {}, (opened) => opened.followings()), [], 'nobody keeps it')
      const refused = await runInside(['import', 'events', '-'], {
        in: away,
        variables: { REAMS_STORE: store },
        input: '{"id":0}',
      })
      assert.match(refused.stderr, /is a mirror of .*`reams set events --detach`/, store)
    }
    // Both have been through the other engine.
    for (const store of [other, 'again.db']) {
      // Its log does not go through `process.stderr`, so it has to be a process.
      const mirror = await runCli(['mirror', `${url}/events`, '--once'], {
        in: away,
        variables: { REAMS_STORE: store },
      })
      assert.match(mirror.stderr, /events: 1 version with 1 change applied; 0 versions behind/, store)
      assert.equal((await headIn(store))?.live, 699)
    }
    await succeeds('set events --detach', 'restored.db')
    await succeeds('backup detached.db', 'restored.db')
    assert.equal((await headIn('detached.db'))?.origin, null)
  })

  it('that is restored to a database and interrupted says how to go on', async (t) => {
    const directory = await filled(t, 30_000)
    const url = newUrl()
    const cli = new RunningCli(['restore', 'reams.db'], { in: directory, variables: { REAMS_STORE: url } })
    const isThere = () =>
      withStore(new DataLocation(url), {}, async () => true).catch(() => cli.child.exitCode !== null)
    while (!(await isThere())) await sleep(10)
    const { status, stderr } = await cli.stop('SIGINT')
    assert.match(
      stderr,
      /^reams: interrupted by SIGINT\. A part may be restored; `reams copy --from reams\.db .* goes on/,
    )
    assert.equal(status, 130)
    const words = ['copy', '--from', 'reams.db', '--tokens']
    assert.equal((await runInside(words, { in: directory, variables: { REAMS_TO: url } })).status, 0)
  })

  it('is not made of a damaged one, nor a database of a damaged backup', async (t) => {
    const directory = await filled(t)
    const url = newUrl()
    changeRows(join(directory, 'reams.db'), "UPDATE tail SET item = '{}' WHERE position = 1233")
    const { status, stderr } = await run(directory, 'restore reams.db', { REAMS_STORE: url })
    assert.match(stderr, /^reams: reams\.db is damaged, so nothing was restored\./)
    assert.equal(status, 3)
    assert.match((await run(directory, 'collections', { REAMS_STORE: url })).stderr, /There is no store/)
  })
})

function fold(path: string): void {
  using database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('PRAGMA wal_checkpoint(RESTART)')
  } catch {
    // A writer is at work.
  }
}
