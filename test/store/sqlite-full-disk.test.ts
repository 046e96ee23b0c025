/** A store on a disk that its history, or another program, has filled. */

import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readDiskSpace, reserveBytesOf } from '../../src/store/sqlite/file/disk-space.ts'
import { fillReserve, releaseReserve } from '../../src/store/sqlite/file/reserve-file.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { RunningCli, runInside, workDirectory } from '../cli/run-cli.ts'
import { fillDisk, mountTmpfs } from '../faults/mounts.ts'
import { lackOf, TMPFS } from '../faults/needs.ts'
import { waitUntil } from '../wait-until.ts'
import { isError, item, keyed } from './items.ts'
import { KEYED } from './subject.ts'

const DISK_MEGABYTES = 16
const RESERVE_BYTES = 1024 ** 2

/** Far more than fits. */
const MAX_WRITES = 2_000

const lack = await lackOf([TMPFS])

/** A store whose history has filled a disk of this size. */
const fullStore = join(tmpdir(), `reams-test-full-${process.pid}.db`)

const large = (n: number) => keyed([item(1, `,"n":${n},"x":"${'y'.repeat(40_000)}"`)])

/** Replaces one item again and again, until there is no room for more. */
async function fillWithHistory(store: Store, name: string): Promise<void> {
  for (let n = 0; n < MAX_WRITES; n++)
    try {
      await store.put(name, large(n))
    } catch (error) {
      assert.ok(isError('full', /`reams forget NAME`/)(error), String(error))
      return
    }
  assert.fail('the disk never was full')
}

/** A small disk, and stores on it; all of them are closed before the disk goes away. */
class SmallDisk implements AsyncDisposable {
  readonly path: string
  readonly #resources = new AsyncDisposableStack()

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
    this.#resources.defer(() => rmSync(directory, { recursive: true, force: true }))
    this.path = this.#resources.use(mountTmpfs(directory, DISK_MEGABYTES)).path
  }

  get store(): string {
    return join(this.path, 'reams.db')
  }

  get reserve(): string {
    return `${this.store}-reserve`
  }

  /** Whether all of it is there. */
  get hasReserve(): boolean {
    return statSync(this.reserve, { throwIfNoEntry: false })?.size === RESERVE_BYTES
  }

  get freeBytes(): number {
    return readDiskSpace(this.path)?.freeBytes ?? assert.fail()
  }

  /** Leaves half of the reserve, so that not even small writes fit. */
  takeSome(): void {
    writeFileSync(join(this.path, 'ballast'), Buffer.alloc(this.freeBytes - RESERVE_BYTES / 2))
  }

  /** With collections `a` and `b`, a token, and a history of `a` that has filled the disk. */
  async openFull(): Promise<Store> {
    copyFileSync(fullStore, this.store)
    const store = await this.open()
    await fillWithHistory(store, 'a')
    return store
  }

  /** With collections `a` and `b`, and without a limit on history unless one is given. */
  async open(options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
    const store = await openWithCollections(this.store, { historyBytes: Number.POSITIVE_INFINITY, ...options })
    this.#resources.defer(() => store.close())
    return store
  }

  async serve(...words: string[]): Promise<string> {
    const cli = new RunningCli(['serve', '--port', '0', ...words], { in: this.path })
    this.#resources.defer(async () => {
      cli.child.kill('SIGKILL')
      await cli.ends()
    })
    await cli.prints('Ctrl-C stops it.')
    return /http:\/\/[^/\s]+/.exec(cli.stdout)?.[0] ?? ''
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync()
  }
}

async function openWithCollections(path: string, options: Partial<SqliteStoreOptions>): Promise<Store> {
  const store = await openSqliteStore({ path, create: true, ...options })
  if ((await store.head('a')) === undefined) for (const name of ['a', 'b']) await store.create(name, KEYED)
  return store
}

const TOKEN = { name: 'app', hash: 'f'.repeat(64), scopes: [], createdAt: 1, expiresAt: null, revokedAt: null }

describe('a disk that is full of history', { skip: lack ?? false, timeout: 120_000 }, () => {
  before(async () => {
    await using disk = new SmallDisk()
    const store = await disk.open()
    await store.addToken(TOKEN)
    await fillWithHistory(store, 'a')
    await store.close()
    copyFileSync(disk.store, fullStore)
  })
  after(() => rmSync(fullStore, { force: true }))

  it('refuses writes to any collection, also new ones, keeps a reserve, and revokes tokens', async () => {
    await using disk = new SmallDisk()
    const store = await disk.openFull()
    assert.ok(disk.freeBytes >= RESERVE_BYTES, `${disk.freeBytes} bytes are free`)
    disk.takeSome()
    await assert.rejects(store.put('b', large(1)), isError('full'))
    await assert.rejects(store.create('c', KEYED), isError('full'))
    await assert.rejects(store.load('b'), isError('full'))
    await assert.rejects(store.addToken({ ...TOKEN, name: 'other', hash: 'e'.repeat(64) }), isError('full'))
    await store.revokeToken('app', 7)
    assert.equal((await store.token(TOKEN.hash))?.revokedAt, 7)
  })

  for (const [what, free] of [
    ['forget', (store: Store) => store.forget('a')],
    ['drop', (store: Store) => store.drop('a')],
    ['a retention of 0', (store: Store) => store.setRetention('a', { retentionMs: 0 })],
  ] as const)
    it(`takes writes again after ${what}`, async () => {
      await using disk = new SmallDisk()
      const store = await disk.openFull()
      await free(store)
      for (let n = 0; n < 50; n++) await store.put('b', large(n))
      assert.deepEqual((await store.verify()).findings, [])
    })

  it('gets room by itself where history has a limit', async () => {
    await using disk = new SmallDisk()
    await using resources = new AsyncDisposableStack()
    // The default limit: a quarter of the disk.
    const store = resources.adopt(await openWithCollections(disk.store, {}), (each) => each.close())
    for (let n = 0; n < 600; n++)
      await waitUntil(() =>
        store.put('a', large(n)).then(
          () => true,
          (error: unknown) => {
            assert.ok(isError('full')(error), String(error))
            return false
          },
        ),
      )
  })

  it('ends a load that does not fit, and removes what it wrote', async () => {
    await using disk = new SmallDisk()
    const store = await disk.open()
    const load = await store.load('a')
    // Random, so that it cannot be deflated.
    const text = (id: number) =>
      item(id, `,"x":"${Buffer.from(crypto.getRandomValues(new Uint8Array(3_000))).toString('base64')}"`)
    await assert.rejects(async () => {
      for (let id = 0; id < 10_000; id += 500)
        await load.append(keyed(Array.from({ length: 500 }, (_, index) => text(id + index))))
    }, isError('full'))
    await load.abort()
    for (let n = 0; n < 50; n++) await store.put('a', large(n))
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('answers 507 over HTTP, while DELETE of a collection works', async () => {
    await using disk = new SmallDisk()
    copyFileSync(fullStore, disk.store)
    const words = ['token', 'create', '--name', 'admin', '--scope', 'admin']
    const { stdout } = await runInside(words, { in: disk.path })
    disk.takeSome()
    const url = await disk.serve('--history-bytes', '1TiB')
    const headers = { authorization: `Bearer ${stdout.match(/reams_\S+/)?.[0]}`, 'content-type': 'application/json' }
    const post = () => fetch(`${url}/b`, { method: 'POST', headers, body: '{"id":1}' })
    const refused = await post()
    assert.equal(refused.status, 507)
    assert.match(String(((await refused.json()) as { hint: string }).hint), /reams forget/)
    assert.equal((await fetch(`${url}/a`, { method: 'DELETE', headers: { ...headers, 'if-match': '*' } })).status, 204)
    assert.equal((await post()).status, 201)
  })
})

describe('a disk that another program has filled', { skip: lack ?? false, timeout: 120_000 }, () => {
  it('gives up its reserve so that space can be freed, and gets it back when there is room', async () => {
    await using disk = new SmallDisk()
    const { reserve } = disk
    const store = await disk.open({ keepReserve: true, forgetEveryMs: 20 })
    for (let n = 0; n < 100; n++) await store.put(n % 2 === 0 ? 'a' : 'b', large(n))
    await waitUntil(() => disk.hasReserve)
    assert.equal(statSync(reserve).mode & 0o777, 0o600)
    assert.ok(statSync(reserve).blocks * 512 >= RESERVE_BYTES, 'it is sparse')
    fillDisk(join(disk.path, 'ballast'))
    await assert.rejects(store.put('b', large(1)), isError('full'))
    await store.forget('a')
    await store.drop('b')
    rmSync(join(disk.path, 'ballast'))
    await store.put('a', large(1))
    await waitUntil(() => disk.hasReserve)
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('lets commands open the store, with and without a server', async () => {
    await using disk = new SmallDisk()
    const store = await disk.open({ keepReserve: true, forgetEveryMs: 20 })
    await store.addToken(TOKEN)
    for (let n = 0; n < 100; n++) await store.put(n % 2 === 0 ? 'a' : 'b', large(n))
    await waitUntil(() => disk.hasReserve)
    fillDisk(join(disk.path, 'ballast'))
    const run = async (...words: string[]) => {
      const { status, stderr } = await runInside(words, { in: disk.path })
      assert.deepEqual([status, stderr], [0, ''], words.join(' '))
    }
    // With a server: in a process of its own.
    const revoked = await new RunningCli(['token', 'revoke', 'app'], { in: disk.path }).ends()
    assert.deepEqual([revoked.status, revoked.stderr], [0, ''])
    await run('set', 'a', '--retention', '0')
    rmSync(join(disk.path, 'ballast'))
    await waitUntil(() => disk.hasReserve)
    await store.close()
    // Now there is not even room for a log.
    fillDisk(join(disk.path, 'ballast'))
    await run('forget', 'b')
    assert.ok(!existsSync(disk.reserve), 'there was room without the reserve')
    await run('drop', 'b', '--yes')
  })
})

describe('the reserve file', () => {
  it('is not created by a store that does not keep one, and never copied to a backup', async (t) => {
    const directory = workDirectory(t)
    const path = join(directory, 'reams.db')
    await using resources = new AsyncDisposableStack()
    const open = async (options: Partial<SqliteStoreOptions>) =>
      resources.adopt(await openWithCollections(path, options), (store) => store.close())
    const store = await open({ forgetEveryMs: 1 })
    await store.put('a', large(1))
    await store.forget('a')
    assert.ok(!existsSync(`${path}-reserve`))
    const keeper = await open({ keepReserve: true, forgetEveryMs: 1 })
    await waitUntil(() => existsSync(`${path}-reserve`))
    await keeper.close()
    const { status } = await runInside(['backup', 'b.db'], { in: directory })
    assert.equal(status, 0)
    const names = readdirSync(directory).filter((name) => name.startsWith('b.db'))
    assert.deepEqual(names, ['b.db'])
    assert.ok(statSync(join(directory, 'b.db')).size < reserveBytesOf(readDiskSpace(path) ?? assert.fail()))
  })

  it('is complete when two processes create it at once, or one creates what is left of it', async (t) => {
    const path = join(workDirectory(t), 'reams.db')
    writeFileSync(path, '')
    const size = reserveBytesOf(readDiskSpace(path) ?? assert.fail())
    const { signal } = new AbortController()
    await Promise.all([fillReserve(path, signal), fillReserve(path, signal)])
    assert.equal(statSync(`${path}-reserve`).size, size)
    const started = new AbortController()
    assert.ok(releaseReserve(path))
    const filling = fillReserve(path, started.signal)
    started.abort()
    await filling
    await fillReserve(path, signal)
    assert.equal(statSync(`${path}-reserve`).size, size)
    assert.ok(releaseReserve(path))
    assert.ok(!releaseReserve(path))
  })

  it('is never one that is not ours', async (t) => {
    const path = join(workDirectory(t), 'reams.db')
    writeFileSync(path, '')
    writeFileSync(`${path}-reserve`, 'tables for two')
    assert.ok(!releaseReserve(path))
    await fillReserve(path, new AbortController().signal)
    assert.equal(statSync(`${path}-reserve`).size, 14)
  })

  it('is never written through a link, but next to the file that a link to the store names', async (t) => {
    const directory = workDirectory(t)
    const [path, other, link] = ['reams.db', 'other', 'link.db'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ]
    for (const file of [path, other]) writeFileSync(file, '')
    const { signal } = new AbortController()
    symlinkSync(other, `${path}-reserve`)
    await fillReserve(path, signal)
    assert.equal(statSync(other).size, 0)
    rmSync(`${path}-reserve`)
    symlinkSync(path, link)
    await fillReserve(link, signal)
    assert.ok(statSync(`${path}-reserve`).size > 0)
    assert.ok(!existsSync(`${link}-reserve`))
  })
})
