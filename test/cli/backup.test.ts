import assert from 'node:assert/strict'
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
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { copyStoreFile } from '../../src/store/sqlite/file/copy-file.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, TMPFS } from '../faults/needs.ts'
import { describePostgres } from '../store/postgres-server.ts'
import { changeRows } from '../store/sqlite-rows.ts'
import { readItems } from '../store/store-reading.ts'
import { inStore, interrupt, refused, run, runWatched, storeMaker, storesInPostgres, succeeds } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

/** A store with a collection and a token. */
const filled = storeMaker(async (directory) => {
  await putLines(directory, 'events', eventLines(1234), { keyField: 'id' })
  await run(directory, 'token create --name app --scope admin')
})

const DAMAGE = "UPDATE tail SET item = '{}' WHERE position = 1233"

describe('backup', () => {
  // Before any other backup in this process: not every user can take back that it gives way.
  it('gives way to others while it verifies', async (t) => {
    const directory = await filled(t)
    assert.equal(getPriority(), 0)
    let priority = 0
    const look = () => {
      priority = Math.max(priority, getPriority())
    }
    assert.equal((await runWatched(directory, 'backup b.db', look)).status, 0)
    assert.equal(priority, constants.priority.PRIORITY_BELOW_NORMAL)
  })

  it('of a served store is complete in itself, for its owner alone, and can be restored', async (t) => {
    const directory = await filled(t)
    const { get } = await startServer(t, [], { in: directory })
    assert.match(
      await succeeds(directory, 'backup b.db'),
      /^b\.db: 1 collection with 1,234 items, \d+ KB; copied in .*, every item.* verified in .*\.\n$/,
    )
    assert.deepEqual(
      readdirSync(directory).filter((name) => !name.startsWith('reams.db')),
      ['b.db', 'tmp'],
    )
    assert.equal(statSync(join(directory, 'b.db')).mode & 0o777, 0o600)
    assert.equal((await get('/events?page=2')).status, 200)
    const restored = await succeeds(directory, 'restore b.db --store new.db')
    assert.match(restored, /^new\.db: 1 collection with 1,234 items, .* verified in /)
    assert.equal(statSync(join(directory, 'new.db')).mode & 0o777, 0o600)
    assert.equal((await run(directory, 'export events --store new.db')).stdout, eventLines(1234))
    assert.match(await succeeds(directory, 'token list --store new.db'), /app +active/)
  })

  it('follows nothing, nor does what is restored or copied of it', async (t) => {
    const directory = await filled(t)
    const followingsIn = (file: string) => inStore(join(directory, file), (store) => store.followings())
    const following = { source: 'events in a database', waiting: 7, asOf: 1, seenAt: 2 }
    await inStore(join(directory, 'reams.db'), (store) => store.noteFollowing('events', following))
    for (const words of ['backup b.db', 'copy --from reams.db --to c.db', 'restore reams.db --store d.db'])
      await succeeds(directory, words)
    for (const file of ['b.db', 'c.db', 'd.db']) assert.deepEqual(await followingsIn(file), [], file)
    assert.equal((await followingsIn('reams.db')).length, 1)
  })

  it('while others write and fold the log is a state that was, with all that was acknowledged before', async (t) => {
    const directory = await filled(t)
    const [path, copy] = [join(directory, 'reams.db'), join(directory, 'b.db')]
    let written = 0
    await inStore(path, async (store) => {
      await store.create('venues')
      // In the log when the copy of the file begins.
      await store.append('events', itemRun(['{"id":"new"}'], { keyField: 'id' }))
      const writes: Promise<unknown>[] = []
      const onProgress = () => {
        // Only at the first call, when the file is copied and the log is not: later ones may meet a writer.
        if (written === 0) changeRows(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
        writes.push(store.append('venues', itemRun([`{"n":${++written}}`], { keyField: null })))
      }
      await copyStoreFile(path, copy, { onProgress })
      await Promise.all(writes)
    })
    await inStore(copy, async (store) => {
      assert.equal((await readItems(store, 'events')).join('\n'), `${eventLines(1234)}{"id":"new"}`)
      const venues = await readItems(store, 'venues')
      assert.ok(venues.length <= written)
      for (const [index, item] of venues.entries()) assert.equal(item, `{"n":${index + 1}}`)
      assert.deepEqual((await store.verify()).findings, [])
    })
  })

  it('is readable for nobody else at any time, whatever the umask', async (t) => {
    const directory = await filled(t)
    const modes = new Map<string, number>()
    const look = () => {
      for (const name of readdirSync(directory).filter((each) => /^(reams-|b\.db)/.test(each)))
        modes.set(name, statSync(join(directory, name)).mode)
    }
    const umask = process.umask(0)
    const { status } = await runWatched(directory, 'backup b.db', look).finally(() => process.umask(umask))
    look()
    assert.equal(status, 0)
    assert.equal(modes.size, 2, 'a directory of its own, then the file')
    for (const [name, mode] of modes) assert.equal(mode & 0o077, 0, name)
  })

  it('that is interrupted leaves nothing', async (t) => {
    const directory = await filled(t)
    const before = readdirSync(directory)
    const look = () => readdirSync(directory).some((name) => name.startsWith('reams-part-')) && interrupt('SIGTERM')
    const { status, stderr } = await runWatched(directory, 'backup b.db', look)
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
    const itself = /^reams: \S+ is the store to back up itself\. Name another/
    for (const name of ['reams.db', './reams.db', 'link.db', 'hard.db'])
      for (const flag of ['', ' --force']) await refused(directory, `backup ${name}${flag}`, 2, itself)
    const kept = /^reams: \S+ is the name of a file that (SQLite|Reams) keeps/
    for (const suffix of ['-wal', '-shm', '-journal', '-reserve'])
      await refused(directory, `backup reams.db${suffix} --force`, 2, kept)
    writeFileSync(join(directory, 'b.db-wal'), '')
    writeFileSync(join(directory, 'notes.txt'), 'precious'.repeat(100))
    const wrong = {
      'd.db --store no.db': /^reams: There is no store at no\.db to back up\. Check --s/,
      'd.db --store notes.txt': /^reams: notes\.txt is not a Reams store/,
      'd.db --store tmp': /^reams: tmp is not a Reams store: it is a directory/,
      'no/b.db': /^reams: no\/b\.db cannot be written: its directory does not exist/,
      'postgres://a:secret@b/c': /^reams: A backup is a file, and postgres:\/\/a@b\/c is/,
      'b.db': /^reams: b\.db-wal is there: b\.db is a store in use/,
      tmp: /^reams: tmp is a directory/,
      '/dev/null': /^reams: A backup must be a file, and \/dev\/null is none/,
      '-': /^reams: A backup must be a file/,
    }
    for (const [words, message] of Object.entries(wrong))
      await refused(directory, `backup ${words} --force`, 2, message)
    await succeeds(directory, 'backup tmp/../c.db')
    chmodSync(join(directory, 'c.db'), 0o644)
    await succeeds(directory, 'backup c.db --force')
    assert.equal(statSync(join(directory, 'c.db')).mode & 0o777, 0o600)
  })

  it('of a damaged store fails, says what is wrong, and leaves nothing', async (t) => {
    const directory = await filled(t)
    const path = join(directory, 'reams.db')
    changeRows(path, DAMAGE)
    const removed = /^reams: The copy of reams\.db is damaged, so it was removed \(\d+ problem/
    await refused(directory, 'backup b.db', 3, removed)
    writeFileSync(path, readFileSync(path).fill(7, 8192 * 3, 8192 * 6))
    await refused(directory, 'backup b.db', 3, /^reams: .* damaged/)
  })

  it('onto a full disk leaves nothing there', async (t) => {
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    const directory = await filled(t)
    using disk = mountTmpfs(directory, 1)
    // Leaves a page of the memory.
    writeFileSync(join(disk.path, 'other'), Buffer.alloc(1024 * 1024 - 4096))
    for (const words of ['backup tmpfs/b.db', 'restore reams.db --store tmpfs/b.db']) {
      await refused(directory, words, 3, 'tmpfs/b.db cannot be written: the disk is full.')
      assert.deepEqual(readdirSync(disk.path), ['other'])
    }
  })
})

describe('restore', () => {
  it('refuses a store that exists, or the log of one', async (t) => {
    const directory = await filled(t)
    await succeeds(directory, 'backup b.db')
    writeFileSync(join(directory, 'empty'), '')
    writeFileSync(join(directory, 'new.db-wal'), 'of another store')
    const wrong = {
      'reams.db': /^reams: There already is something at reams\.db, which was left unchanged/,
      empty: /^reams: There already is something at empty/,
      'new.db': /^reams: new\.db-wal is there: new\.db is a store in use/,
      'no/new.db': /^reams: no\/new\.db cannot be written: its directory/,
    }
    for (const [store, message] of Object.entries(wrong))
      await refused(directory, `restore b.db --store ${store}`, 2, message)
  })

  it('refuses what is not a backup, or a damaged one', async (t) => {
    const directory = await filled(t)
    const path = join(directory, 'b.db')
    writeFileSync(join(directory, 'notes.txt'), 'precious'.repeat(100))
    writeFileSync(join(directory, 'short'), '')
    new DatabaseSync(join(directory, 'other.db')).exec('CREATE TABLE a (b)')
    const isRefused = (name: string, status: number, message: RegExp) =>
      refused(directory, `restore ${name} --store n.db`, status, message)
    for (const name of ['notes.txt', 'short', 'other.db'])
      await isRefused(name, 2, /^reams: \S+ is not a backup of a Reams store\. Name a/)
    await isRefused('postgres://a:secret@b/c', 2, /no backup postgres:\/\/a@b\/c: it/)
    for (const name of ['tmp', 'missing'])
      await isRefused(name, 2, /^reams: There is no backup \S+: it is missing, or no/)
    await succeeds(directory, 'backup b.db')
    changeRows(path, DAMAGE)
    await isRefused('b.db', 3, /^reams: The copy of b\.db is damaged, so it was removed/)
    writeFileSync(path, readFileSync(path).fill(255, 100, 108))
    await isRefused('b.db', 3, /^reams: The store b\.db is damaged/)
  })

  it('refuses a backup that somebody put a trigger into, as a backup of such a store is refused', async (t) => {
    const directory = await filled(t)
    await succeeds(directory, 'backup b.db')
    changeRows(join(directory, 'b.db'), 'CREATE TRIGGER undo AFTER INSERT ON token BEGIN DELETE FROM head; END')
    const message = /^reams: The store b\.db has the trigger "undo", which Reams/
    await refused(directory, 'restore b.db --store n.db', 3, message)
    // Opening it leaves the two files that SQLite needs to read it.
    await run(directory, 'verify --store b.db')
    await refused(directory, 'backup c.db --store b.db', 3, message)
  })

  it('takes a backup from a directory that cannot be written to', async (t) => {
    const directory = await filled(t)
    mkdirSync(join(directory, 'shelf'))
    await succeeds(directory, 'backup shelf/b.db')
    chmodSync(join(directory, 'shelf'), 0o555)
    await succeeds(directory, 'restore shelf/b.db --store new.db')
    assert.deepEqual(readdirSync(join(directory, 'shelf')), ['b.db'])
  })
})

describePostgres('a backup of PostgreSQL', (startPostgres) => {
  const { newUrl, newUrlWithProxy } = storesInPostgres(startPostgres)

  it('is a file like any other, and restores to a database that has none', async (t) => {
    const directory = await filled(t)
    const [one, other] = [newUrl(), newUrl()].map((url) => ({ variables: { REAMS_STORE: url } }))
    await refused(directory, 'backup p.db', 2, /^reams: There is no store at .* to back up\. Check --store\.\n$/, one)
    assert.match(await succeeds(directory, 'restore reams.db', one), /restored from reams\.db\.\n$/)
    assert.match(
      await succeeds(directory, 'backup p.db', one),
      /^events: 1,234 items, .*SHA-256[\s\S]*^p\.db: 1 collection with 1,234 items, .* verified/m,
    )
    assert.equal(statSync(join(directory, 'p.db')).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('p.db') || name.startsWith('reams-')),
      ['p.db'],
    )
    const restored = JSON.parse(await succeeds(directory, 'restore p.db --json', other))
    assert.deepEqual([restored.collections, restored.items, restored.bytes], [1, 1234, null])
    const items = await inStore(other?.variables.REAMS_STORE ?? '', (store) => readItems(store, 'events'))
    assert.equal(items.map((line) => `${line}\n`).join(''), eventLines(1234))
    assert.match(await succeeds(directory, 'token list', other), /app +active/)
    const isThere = /^reams: There already is something at postgres:.* left unchanged/
    await refused(directory, 'restore p.db', 2, isThere, other)
  })

  it('of a mirror, and a backup of a file, is a mirror that goes on where it was, from and to either engine', async (t) => {
    const [home, away] = [workDirectory(t), workDirectory(t)]
    await putLines(home, 'events', eventLines(700), { keyField: 'id' })
    const { store: source, url } = await serveInside(t, home)
    const [one, other] = [newUrl(), newUrl()]
    const at = (store: string) => ({ variables: { REAMS_STORE: store } })
    // A mirror logs past this process, so it has to be one.
    const mirror = (store: string) => runCli(['mirror', `${url}/events`, '--once'], { in: away, ...at(store) })
    assert.equal((await mirror('reams.db')).status, 0)
    await succeeds(away, 'set events --retention 1h')
    const read = (store: string) =>
      inStore(store.startsWith('postgres:') ? store : join(away, store), async (opened) => {
        const head = await opened.head('events')
        return { origin: head?.origin, retentionMs: head?.retentionMs, followings: await opened.followings() }
      })
    const { origin } = await read('reams.db')
    assert.equal(origin?.url, `${url}/events`)
    const steps: [words: string, store: string][] = [
      ['backup file.db', 'reams.db'],
      ['restore file.db', 'restored.db'],
      ['restore file.db', one],
      ['backup database.db', one],
      ['restore database.db', other],
      ['restore database.db', 'again.db'],
    ]
    for (const [words, store] of steps) assert.equal((await run(away, words, at(store))).status, 0)
    await source.delete('events', ['7'])
    for (const store of ['file.db', 'restored.db', one, 'database.db', other, 'again.db'])
      assert.deepEqual(await read(store), { origin, retentionMs: 3_600_000, followings: [] }, store)
    // Both have been through the other engine.
    for (const store of [other, 'again.db']) {
      const { stderr } = await mirror(store)
      assert.match(stderr, /events: 1 version with 1 change applied; 0 versions behind/, store)
      assert.equal(await succeeds(away, 'export events', at(store)), eventLines(700).replace(/^.*"id":7,.*\n/m, ''))
    }
    assert.match(
      await succeeds(away, 'collections', at('restored.db')),
      /FOLLOWS\n.*\/events, 0 versions behind, as of/,
    )
    await succeeds(away, 'set events --detach', at('restored.db'))
    await succeeds(away, 'backup detached.db', at('restored.db'))
    assert.equal((await read('detached.db')).origin, null)
  })

  it('that is restored to a database and interrupted says how to go on', async (t) => {
    const directory = await filled(t)
    const { proxy, url } = await newUrlWithProxy(t)
    let isInterrupted = false
    proxy.judge = (data) => {
      if (!isInterrupted && data.includes('INSERT INTO reams_format')) isInterrupted = interrupt('SIGINT')
      return 'pass'
    }
    const { status, stderr } = await run(directory, 'restore reams.db', { variables: { REAMS_STORE: url } })
    assert.match(
      stderr,
      /^reams: interrupted by SIGINT\. A part may be restored; `reams copy --from reams\.db .* goes on/,
    )
    assert.equal(status, 130)
    await succeeds(directory, 'copy --from reams.db --tokens', { variables: { REAMS_TO: url } })
  })

  it('is not made of a damaged one, nor a database of a damaged backup', async (t) => {
    const directory = await filled(t)
    const options = { variables: { REAMS_STORE: newUrl() } }
    changeRows(join(directory, 'reams.db'), DAMAGE)
    const message = /^reams: reams\.db is damaged, so nothing was restored\./
    await refused(directory, 'restore reams.db', 3, message, options)
    await refused(directory, 'collections', 2, /There is no store/, options)
  })
})
