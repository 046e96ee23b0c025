import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
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
import { fileURLToPath } from 'node:url'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { checkSqliteVersion } from '../../src/store/sqlite/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { lackOfOtherUser } from '../other-user.ts'
import { changed, isError, item, itemsFrom, keyed } from './items.ts'
import { changeRows } from './sqlite-rows.ts'
import { readAllPages } from './store-reading.ts'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))
const sourceOf = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)

const COUNT = 1100

/** A program in another process, with words as its arguments; answers what it prints. */
const runScript = (script: string, ...words: string[]): string =>
  String(execFileSync(process.execPath, ['--input-type=module', '-e', script, ...words]))

function fillWithGarbage(path: string, from: number): void {
  const file = openSync(path, 'r+')
  const garbage = Buffer.alloc(statSync(path).size - from, 0xa5)
  writeSync(file, garbage, 0, garbage.length, from)
  closeSync(file)
}

describe('a store in an SQLite file', () => {
  let directory: string
  let template: string
  let files = 0
  const newPath = (): string => join(directory, `store-${++files}.db`)

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
    chmodSync(directory, 0o755)
    template = newPath()
    await (await makeStore(template)).close()
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('moves what was written from the log to the file while it is open, so that the log stays small', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path, create: true })
    await store.create('events')
    const noise = JSON.stringify({ noise: randomBytes(150_000).toString('base64') })
    for (let n = 0; n < 20; n++) await store.append('events', itemRun([noise, noise, noise, noise, noise]))
    const log = statSync(`${path}-wal`).size
    assert.ok(statSync(path).size > 8 * 1_048_576, 'the file has grown')
    assert.ok(log < 16 * 1_048_576, `the log has ${log} bytes`)
    await store.close()
  })

  const makeStore = async (path: string): Promise<Store> => {
    const store = await openSqliteStore({ path, create: true })
    await store.create('events', { keyField: 'id' })
    await store.append('events', keyed(itemsFrom(0, COUNT)))
    return store
  }
  /** A file that holds such a store. */
  const storePath = (): string => {
    const path = newPath()
    copyFileSync(template, path)
    return path
  }
  const replaceByCopy = (path: string): void => {
    copyFileSync(path, `${path}.other`)
    renameSync(`${path}.other`, path)
  }
  const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino

  describe('is refused, and left as it was,', () => {
    for (const [when, code, words, content] of [
      ['when it is a text file', 'not-a-store', /not an SQLite database/, '{"id":1}\n'.repeat(100)],
      ['when its tables are those of another application', 'not-a-store', /another application/, 'SELECT 1'],
      ['when its id is that of another application', 'not-a-store', /another app/, 'PRAGMA application_id = 4711'],
      ['when its version is that of another application', 'not-a-store', /another app/, 'PRAGMA user_version = 1'],
      ['when a newer version wrote it', 'other-format', /Update Reams/, 99],
      ['when an earlier version wrote it', 'other-format', /reams export .* with this one/, 1],
    ] as const)
      it(when, async () => {
        const path = typeof content === 'number' ? storePath() : newPath()
        if (typeof content === 'number') changeRows(path, `PRAGMA user_version = ${content}`)
        else if (content.startsWith('{')) writeFileSync(path, content)
        else changeRows(path, `CREATE TABLE theirs (x); ${content}`)
        const bytes = readFileSync(path)
        for (const create of [false, true])
          await assert.rejects(openSqliteStore({ path, create }), isError(code, words))
        assert.deepEqual(readFileSync(path), bytes)
      })

    it('when a newer version is just writing it', async () => {
      const path = storePath()
      using database = new DatabaseSync(path)
      database.exec('PRAGMA user_version = 99')
      await assert.rejects(openSqliteStore({ path }), isError('other-format', /99/))
    })

    it('when there is none, or an empty file, and none may be made', async () => {
      const path = newPath()
      await assert.rejects(openSqliteStore({ path }), isError('missing-store', /reams import.*`create: true`/))
      assert.equal(inodeOf(path), undefined)
      writeFileSync(path, '')
      await assert.rejects(openSqliteStore({ path }), isError('not-a-store', /empty/))
      await (await openSqliteStore({ path, create: true })).close()
    })

    it('when it is a directory, or its directory does not exist', async () => {
      await assert.rejects(openSqliteStore({ path: directory, create: true }), isError('not-a-store', /directory/))
      const path = join(directory, 'nowhere', 'x.db')
      await assert.rejects(openSqliteStore({ path, create: true }), isError('read-only', /directory/))
    })

    it('when SQLite is too old', () => {
      for (const version of ['3.51.2', '3.40.0', '2.99.99'])
        assert.throws(() => checkSqliteVersion(version), { code: 'unsupported' })
      for (const version of ['3.51.3', '3.52.0', '4.0.0']) checkSqliteVersion(version)
    })

    it('when its directory is read-only for this user', async (context) => {
      const lack = process.getuid?.() === 0 ? lackOfOtherUser() : 'needs root to become another user'
      if (lack !== undefined) return context.skip(lack)
      const script = `
        const { openSqliteStore } = await import(${sourceOf('store/sqlite/open.ts')})
        process.setgid(65534)
        process.setuid(65534)
        for (const path of process.argv.slice(1))
          console.log(await openSqliteStore({ path, create: true }).then(() => 'opened', (error) => error.code + ': ' + error.message))`
      const told = runScript(script, storePath(), newPath()).trim().split('\n')
      assert.equal(told.length, 2)
      for (const line of told) assert.match(line, /^read-only: .*writable for this user/)
    })
  })

  it('is closed after the last write, also where nothing else keeps the process alive', () => {
    const script = `
      import { itemRun } from ${sourceOf('items/item-run.ts')}
      import { openSqliteStore } from ${sourceOf('store/sqlite/open.ts')}
      const store = await openSqliteStore({ path: process.argv[1], create: true })
      await store.create('events')
      store.append('events', itemRun(['{}'])).then((head) => console.log(head.live))
      await store.close()
      console.log('closed')`
    assert.equal(runScript(script, newPath()), '1\nclosed\n')
  })

  it('is called damaged when its pages are garbage, and by verify when some of them are', async () => {
    const [path, some] = [storePath(), storePath()]
    fillWithGarbage(path, 8192)
    await assert.rejects(openSqliteStore({ path }), isError('corrupt', /backup/))
    fillWithGarbage(some, statSync(some).size - 4 * 8192)
    const store = await openSqliteStore({ path: some })
    const isFound = await store.verify().then(({ findings }) => findings.length > 0, isError('corrupt'))
    assert.ok(isFound)
    await store.close()
  })

  it('is folded into one file when the last process closes it, also by one that only read', async () => {
    const path = newPath()
    await (await makeStore(path)).close()
    for (const suffix of ['-wal', '-shm']) assert.equal(inodeOf(path + suffix), undefined)
    const [serving, writing] = [await openSqliteStore({ path }), await openSqliteStore({ path })]
    await writing.append('events', keyed(['{"id":"late"}']))
    await writing.close()
    await serving.close()
    assert.equal(inodeOf(`${path}-wal`), undefined)
    copyFileSync(path, `${path}.copy`)
    const copy = await openSqliteStore({ path: `${path}.copy` })
    assert.equal((await copy.head('events'))?.live, COUNT + 1)
    await copy.close()
  })

  it('tells when its file has lost its name or is damaged; takes no write then, and makes no new file', async () => {
    const away = (path: string) => renameSync(path, `${path}.away`)
    for (const hasWritten of [false, true])
      for (const harm of [rmSync, away, replaceByCopy, (path: string) => fillWithGarbage(path, 0)]) {
        const path = storePath()
        const store = await openSqliteStore({ path })
        if (hasWritten) await store.append('events', keyed(['{"id":"before"}']))
        await store.ping()
        harm(path)
        const inode = inodeOf(path)
        await assert.rejects(store.ping(), { name: 'StoreError' })
        if (harm === away || harm === replaceByCopy) {
          await assert.rejects(store.append('events', keyed(['{"id":"after"}'])), isError('unavailable', /Restart/))
          await assert.rejects(store.load('events'), isError('unavailable', /Restart/))
        }
        assert.equal(inodeOf(path), inode)
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
        assert.equal((await store.head('events'))?.live, COUNT)
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
      const [path, link] = [newPath(), newPath()]
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
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [CHILD, path, 'append', '40'], { stdio: 'inherit' }),
    )
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0, 0])
    const store = await openSqliteStore({ path })
    assert.equal((await store.head('events'))?.live, 160)
    assert.deepEqual((await store.verify()).findings, [])
    await store.close()
  })

  it('keeps nothing of a commit that failed, neither then nor with the next', async () => {
    for (const how of ['ABORT', 'ROLLBACK']) {
      const path = storePath()
      const store = await openSqliteStore({ path })
      // So that the connection that writes is open: a new one would be refused because of the trigger.
      await store.put('events', keyed([item(3)]))
      const refuse = `BEFORE INSERT ON ream WHEN new.number = 1 BEGIN SELECT RAISE(${how}, 'no'); END`
      changeRows(path, `CREATE TRIGGER refuse ${refuse}`)
      const ids = [3, 503, 1003]
      const outcomes = await Promise.allSettled([
        ...ids.map((id) => store.put('events', keyed([changed(id, 1)]))),
        store.append('events', keyed([item(9000)])),
      ])
      assert.equal(outcomes[1]?.status, 'rejected')
      // Those that did not share its commit may be done; what was answered is what is there.
      const isDone = outcomes.map(({ status }) => status === 'fulfilled')
      const texts = itemsFrom(0, COUNT)
      for (const [index, id] of ids.entries()) if (isDone[index]) texts[id] = changed(id, 1)
      if (isDone[3]) texts.push(item(9000))
      changeRows(path, 'DROP TRIGGER refuse')
      await store.append('events', keyed([item(9001)]))
      assert.deepEqual((await readAllPages(store, 'events')).flat(), [...texts, item(9001)])
      assert.deepEqual((await store.verify()).findings, [])
      await store.close()
    }
  })

  it('undoes what a load did in a commit that failed, and does it again: its keys lead to its items', async () => {
    const store = await makeStore(newPath())
    const load = await store.load('loaded', { settings: { keyField: 'id' } })
    // In one turn of the event loop, so that they share a commit, which the wrong call makes fail.
    const taken = load.append(keyed(itemsFrom(0, 700)))
    await assert.rejects(store.append('events', undefined as never), { name: 'Error' })
    await taken
    await load.append(keyed(itemsFrom(700, 700)))
    await load.commit()
    assert.deepEqual((await store.verify()).findings, [])
    const found = await store.item('loaded', '650')
    assert.deepEqual(JSON.parse(Buffer.from(found?.item?.text ?? []).toString()).id, 650)
    await store.close()
  })
})
