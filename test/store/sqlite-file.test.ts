import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { checkSqliteVersion } from '../../src/store/sqlite/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { lackOfOtherUser } from '../other-user.ts'
import { itemsFrom } from './describe-store.ts'
import { readAllPages } from './store-reading.ts'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))
const isError =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof Error && 'code' in error)
    assert.equal(error.code, code, error.message)
    assert.match(error.message, words)
    return true
  }
const keyed = (texts: string[]) => itemRun(texts, { keyField: 'id' })

function fillWithGarbage(path: string, from: number): void {
  const file = openSync(path, 'r+')
  const garbage = Buffer.alloc(statSync(path).size - from, 0xa5)
  writeSync(file, garbage, 0, garbage.length, from)
  closeSync(file)
}

describe('a store in an SQLite file', () => {
  let directory: string
  let files = 0
  const newPath = (): string => join(directory, `store-${++files}.db`)

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
    chmodSync(directory, 0o755)
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  const makeStore = async (path: string): Promise<Store> => {
    const store = await openSqliteStore({ path, create: true })
    await store.create('events', { keyField: 'id' })
    await store.append('events', keyed(itemsFrom(0, 5000)))
    return store
  }
  /** Opens it, expects the refusal, and looks whether the file was touched. */
  const refuses = async (path: string, code: string, words: RegExp) => {
    const before = readFileSync(path)
    for (const create of [false, true]) await assert.rejects(openSqliteStore({ path, create }), isError(code, words))
    assert.deepEqual(readFileSync(path), before)
  }

  describe('is refused, and left as it was,', () => {
    it('when there is none and none may be made', async () => {
      const path = newPath()
      await assert.rejects(openSqliteStore({ path }), isError('missing-store', /reams import/))
      assert.equal(statSync(path, { throwIfNoEntry: false }), undefined)
    })

    it('when it is a directory', async () => {
      await assert.rejects(openSqliteStore({ path: directory, create: true }), isError('not-a-store', /directory/))
    })

    it('when its directory does not exist', async () => {
      const path = join(directory, 'nowhere', 'x.db')
      await assert.rejects(openSqliteStore({ path, create: true }), isError('read-only', /directory/))
    })

    it('when it is a text file', async () => {
      const path = newPath()
      writeFileSync(path, '{"id":1}\n'.repeat(100))
      await refuses(path, 'not-a-store', /not an SQLite database/)
    })

    it('when it is the database of another application', async () => {
      for (const pragma of ['PRAGMA application_id = 4711', 'PRAGMA user_version = 1', 'SELECT 1']) {
        const path = newPath()
        const database = new DatabaseSync(path)
        database.exec(`CREATE TABLE theirs (x); ${pragma}`)
        database.close()
        await refuses(path, 'not-a-store', /another application/)
      }
    })

    it('when a newer version wrote it', async () => {
      const path = newPath()
      await (await makeStore(path)).close()
      const database = new DatabaseSync(path)
      database.exec('PRAGMA user_version = 99')
      database.close()
      await refuses(path, 'newer-store', /99/)
    })

    it('when a newer version is just writing it', async () => {
      const path = newPath()
      await (await makeStore(path)).close()
      const database = new DatabaseSync(path)
      database.exec('PRAGMA user_version = 99')
      await assert.rejects(openSqliteStore({ path }), isError('newer-store', /99/))
      database.close()
    })

    it('when it is empty and none may be made', async () => {
      const path = newPath()
      writeFileSync(path, '')
      await assert.rejects(openSqliteStore({ path }), isError('not-a-store', /empty/))
      await (await openSqliteStore({ path, create: true })).close()
    })

    it('when SQLite is too old', () => {
      for (const version of ['3.51.2', '3.40.0', '2.99.99'])
        assert.throws(() => checkSqliteVersion(version), { code: 'unsupported' })
      for (const version of ['3.51.3', '3.52.0', '4.0.0']) checkSqliteVersion(version)
    })

    it('when its directory is read-only for this user', async (context) => {
      const lack = process.getuid?.() === 0 ? lackOfOtherUser() : 'needs root to become another user'
      if (lack !== undefined) return context.skip(lack)
      const path = newPath()
      await (await makeStore(path)).close()
      const script = `
        const { openSqliteStore } = await import(${JSON.stringify(new URL('../../src/store/sqlite/open.ts', import.meta.url).href)})
        process.setgid(65534)
        process.setuid(65534)
        for (const path of process.argv.slice(1))
          console.log(await openSqliteStore({ path, create: true }).then(() => 'opened', (error) => error.code + ': ' + error.message))`
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', script, path, newPath()])
      const told = String(output).trim().split('\n')
      assert.equal(told.length, 2)
      for (const line of told) assert.match(line, /^read-only: .*writable for this user/)
    })
  })

  it('is closed after the last write, also where nothing else keeps the process alive', () => {
    const script = `
      import { itemRun } from ${JSON.stringify(new URL('../../src/items/item-run.ts', import.meta.url).href)}
      import { openSqliteStore } from ${JSON.stringify(new URL('../../src/store/sqlite/open.ts', import.meta.url).href)}
      const store = await openSqliteStore({ path: process.argv[1], create: true })
      await store.create('events')
      store.append('events', itemRun(['{}'])).then((head) => console.log(head.live))
      await store.close()
      console.log('closed')`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script, newPath()])
    assert.equal(String(output), '1\nclosed\n')
  })

  it('is called damaged when its pages are garbage', async () => {
    const path = newPath()
    await (await makeStore(path)).close()
    fillWithGarbage(path, 8192)
    await assert.rejects(openSqliteStore({ path }), isError('corrupt', /backup/))
  })

  it('is called damaged by verify when some of its pages are garbage', async () => {
    const path = newPath()
    await (await makeStore(path)).close()
    fillWithGarbage(path, statSync(path).size - 4 * 8192)
    const store = await openSqliteStore({ path })
    const findings = await store.verify().then(
      (result) => result.findings.length,
      (error: unknown) => isError('corrupt')(error),
    )
    assert.ok(findings)
    await store.close()
  })

  it('is folded into one file when the last process closes it', async () => {
    const path = newPath()
    await (await makeStore(path)).close()
    for (const suffix of ['-wal', '-shm']) assert.equal(statSync(path + suffix, { throwIfNoEntry: false }), undefined)
  })

  it('is folded into one file also by a process that only read', async () => {
    const path = newPath()
    const reader = await makeStore(path)
    await reader.close()
    const serving = await openSqliteStore({ path })
    const writing = await openSqliteStore({ path })
    await writing.append('events', keyed(['{"id":"late"}']))
    await writing.close()
    await serving.close()
    assert.equal(statSync(`${path}-wal`, { throwIfNoEntry: false }), undefined)
    copyFileSync(path, `${path}.copy`)
    const copy = await openSqliteStore({ path: `${path}.copy` })
    assert.equal((await copy.head('events'))?.live, 5001)
    await copy.close()
  })

  it('tells when its file was removed, replaced or damaged while it was open', async () => {
    for (const harm of [
      (path: string) => rmSync(path),
      (path: string) => {
        copyFileSync(path, `${path}.other`)
        renameSync(`${path}.other`, path)
      },
      (path: string) => fillWithGarbage(path, 0),
    ]) {
      const path = newPath()
      await (await makeStore(path)).close()
      const store = await openSqliteStore({ path })
      await store.ping()
      harm(path)
      await assert.rejects(store.ping(), (error: unknown) => error instanceof Error && error.name === 'StoreError')
      await store.close()
    }
  })

  it('takes no write into a file that has lost its name, and makes no new one', async () => {
    for (const hasWritten of [false, true])
      for (const harm of [
        (path: string) => renameSync(path, `${path}.away`),
        (path: string) => {
          copyFileSync(path, `${path}.other`)
          renameSync(`${path}.other`, path)
        },
      ]) {
        const path = newPath()
        await (await makeStore(path)).close()
        const store = await openSqliteStore({ path })
        if (hasWritten) await store.append('events', keyed(['{"id":"before"}']))
        harm(path)
        const inode = statSync(path, { throwIfNoEntry: false })?.ino
        await assert.rejects(store.append('events', keyed(['{"id":"after"}'])), isError('unavailable', /Restart/))
        await assert.rejects(store.load('events'), isError('unavailable', /Restart/))
        assert.equal(statSync(path, { throwIfNoEntry: false })?.ino, inode)
        await store.close()
      }
  })

  it('is a file of that name, whatever SQLite reads into the name', async () => {
    const before = process.cwd()
    process.chdir(directory)
    try {
      for (const path of [':memory:', 'file:x.db']) {
        await (await makeStore(path)).close()
        const store = await openSqliteStore({ path })
        assert.equal((await store.head('events'))?.live, 5000)
        await store.close()
      }
    } finally {
      process.chdir(before)
    }
  })

  it('is for its owner alone when it is new, with its log, and keeps the mode that somebody gave it', async () => {
    const before = process.umask(0o022)
    const modesOf = (path: string) => ['', '-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777)
    try {
      const path = newPath()
      const link = newPath()
      symlinkSync(path, link)
      const store = await makeStore(link)
      assert.deepEqual(modesOf(path), [0o600, 0o600, 0o600])
      await store.close()
      chmodSync(path, 0o640)
      const again = await openSqliteStore({ path, create: true })
      await again.append('events', keyed(['{"id":"x"}']))
      assert.deepEqual(modesOf(path), [0o640, 0o640, 0o640])
      await again.close()
    } finally {
      process.umask(before)
    }
  })

  it('is made once when many processes start at once, and takes the writes of all', async () => {
    const path = newPath()
    const children = Array.from({ length: 5 }, () =>
      spawn(process.execPath, [CHILD, path, 'append', '40'], { stdio: 'inherit' }),
    )
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0, 0, 0])
    const store = await openSqliteStore({ path })
    assert.equal((await store.head('events'))?.live, 200)
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  it('keeps nothing of a commit that failed, neither then nor with the next', async () => {
    for (const how of ['ABORT', 'ROLLBACK']) {
      const path = newPath()
      const store = await makeStore(path)
      const execute = (sql: string): void => {
        const database = new DatabaseSync(path)
        database.exec(sql)
        database.close()
      }
      execute(`CREATE TRIGGER refuse BEFORE INSERT ON ream WHEN new.number = 1 BEGIN SELECT RAISE(${how}, 'no'); END`)
      const changed = [3, 503, 1003].map((id) => keyed([`{"id":${id},"n":1}`]))
      const outcomes = await Promise.allSettled([
        ...changed.map((run) => store.put('events', run)),
        store.append('events', keyed(['{"id":"beside"}'])),
      ])
      // Those that did not share its commit may be done; what was answered is what is there.
      const texts = itemsFrom(0, 5000)
      if (outcomes[0]?.status === 'fulfilled') texts[3] = '{"id":3,"n":1}'
      assert.equal(outcomes[1]?.status, 'rejected')
      if (outcomes[2]?.status === 'fulfilled') texts[1003] = '{"id":1003,"n":1}'
      if (outcomes[3]?.status === 'fulfilled') texts.push('{"id":"beside"}')
      execute('DROP TRIGGER refuse')
      await store.append('events', keyed(['{"id":"after"}']))
      assert.deepEqual((await readAllPages(store, 'events')).flat(), [...texts, '{"id":"after"}'])
      assert.deepEqual((await store.verify()).findings, [])
      await store.close()
    }
  })

  it('takes no harm from a full disk: the write is refused, all else stays', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('needs root to mount a small file system')
    const mount = mkdtempSync(join(directory, 'small-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', mount], { stdio: 'pipe' })
    } catch {
      return context.skip('mounting a tmpfs is not allowed here')
    }
    try {
      const store = await openSqliteStore({ path: join(mount, 'x.db'), create: true })
      await store.create('events', { keyField: 'id' })
      const noise = (from: number) =>
        itemsFrom(from, 500).map((text) =>
          text.replace('}', `,"noise":"${Array.from({ length: 40 }, () => Math.random().toString(36)).join('')}"}`),
        )
      let texts = noise(0)
      await store.append('events', keyed(texts))
      const kept: string[] = []
      let refusal: unknown
      for (let from = 500; refusal === undefined; from += 500) {
        kept.push(...texts)
        texts = noise(from)
        refusal = await store.append('events', keyed(texts)).then(
          () => undefined,
          (error: unknown) => error,
        )
      }
      isError('full', /free some space/)(refusal)
      assert.deepEqual((await readAllPages(store, 'events')).flat(), kept)
      assert.deepEqual((await store.verify()).findings, [])
      execFileSync('mount', ['-o', 'remount,size=20m', mount])
      await store.append('events', keyed([`{"id":"after"}`]))
      assert.equal((await store.head('events'))?.live, kept.length + 1)
      await store.close()
    } finally {
      execFileSync('umount', ['-l', mount])
    }
  })

  describe('whose loading process was killed', () => {
    for (const task of ['load', 'replace'])
      it(`keeps the old state and nothing else (${task})`, async () => {
        const path = newPath()
        const store = await makeStore(path)
        const before = await store.head('events')
        const child = spawn(process.execPath, [CHILD, path, task], { stdio: ['ignore', 'pipe', 'inherit'] })
        for (let steps = 0; steps < 12; ) steps += String((await once(child.stdout, 'data'))[0]).length
        await assert.rejects(store.append('events', keyed(['{"id":"x"}'])), isError('busy', /Wait/))
        child.kill('SIGKILL')
        await once(child, 'exit')
        assert.deepEqual(await store.head('events'), before)
        assert.deepEqual((await store.verify()).findings, [])
        await store.append('events', keyed(['{"id":"x"}']))
        assert.deepEqual((await readAllPages(store, 'events')).flat(), [...itemsFrom(0, 5000), '{"id":"x"}'])
        const database = new DatabaseSync(path, { readOnly: true })
        const rows = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
        assert.deepEqual(
          ['ream', 'tail', 'key', 'lease', 'leftover'].map((table) => [table, rows(table)]),
          [
            ['ream', 10],
            ['tail', 1],
            ['key', 5001],
            ['lease', 0],
            ['leftover', 0],
          ],
        )
        database.close()
        await store.close()
      })
  })

  it('removes, after any write, what a process left behind that died behind its commit', async () => {
    const path = newPath()
    const store = await makeStore(path)
    const database = new DatabaseSync(path)
    const columns = 'number, count, raw_length, crc, gone, data, sum'
    database.exec(`
      INSERT INTO ream (collection_id, generation, ${columns}) SELECT collection_id, 0, ${columns} FROM ream;
      INSERT INTO leftover (collection_id, generation, base) SELECT id, 0, 0 FROM head`)
    const rows = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
    assert.deepEqual(['ream', 'leftover'].map(rows), [20, 1])
    await store.create('another')
    while (rows('leftover') !== 0) await sleep(5)
    assert.equal(rows('ream'), 10)
    database.close()
    await store.close()
  })

  it('keeps nothing of a load that ended without a commit, also where it takes more than one step to remove it', async () => {
    const path = newPath()
    const store = await makeStore(path)
    const before = await store.head('events')
    const load = await store.load('events', { onConflict: 'replace' })
    const fresh = itemsFrom(0, 25_000)
    for (const turn of [1, 2]) await load.append(keyed(fresh.map((text) => text.replace('}', `,"turn":${turn}}`))))
    await load.abort()
    assert.deepEqual(await store.head('events'), before)
    const database = new DatabaseSync(path, { readOnly: true })
    const rows = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
    assert.deepEqual(['ream', 'tail', 'key', 'lease', 'leftover'].map(rows), [10, 0, 5000, 0, 0])
    database.close()
    assert.deepEqual((await readAllPages(store, 'events')).flat(), itemsFrom(0, 5000))
    await store.close()
  })

  it('is taken over from a load that stood still, which then finds its lease gone', async () => {
    const path = newPath()
    const store = await makeStore(path)
    const load = await store.load('events')
    await load.append(keyed(itemsFrom(9000, 700)))
    const other = await openSqliteStore({ path })
    // The load renews its lease every two seconds, and may do so in between.
    for (let isBusy = true; isBusy; ) {
      const database = new DatabaseSync(path)
      database.exec('UPDATE lease SET renewed_tick = 0')
      database.close()
      isBusy = await other.append('events', keyed(['{"id":"other"}'])).then(
        () => false,
        (error) => error.code === 'busy',
      )
    }
    await assert.rejects(load.append(keyed(itemsFrom(9700, 700))), isError('lease-lost', /start it again/))
    await assert.rejects(load.commit(), isError('lease-lost'))
    await load.abort()
    assert.equal((await store.head('events'))?.live, 5001)
    assert.deepEqual((await store.verify()).findings, [])
    await other.close()
    await store.close()
  })
})
