import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { itemRun } from '../../src/items/item-run.ts'
import { PageReader } from '../../src/store/sqlite/page-reader.ts'
import { readPage } from '../../src/store/sqlite/read.ts'
import { Rows } from '../../src/store/sqlite/rows.ts'
import { fileIdentity, openReadConnection } from '../../src/store/sqlite/store-file.ts'
import type { PageRead, SegmentForm } from '../../src/store/store.ts'
import { isError, itemsFrom } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { pagesOf, textsOf } from './store-reading.ts'

const ITEMS = itemsFrom(0, 2_000)
const PAGES = [1, 2, 3, 4]

interface Subject {
  readonly path: string
  /** Asks for pages in one turn. */
  read(...pages: number[]): Promise<(PageRead | undefined)[]>
  /** How many pages were read on the spot so far. */
  here(): number
  readonly reader: PageReader
}

interface ReaderOptions {
  readonly identity?: string
  readonly form?: SegmentForm
}

async function openReader(t: TestContext, { identity, form = 'raw' }: ReaderOptions = {}): Promise<Subject> {
  const { store, path, remove } = await openSqliteForTest()
  await store.create('events')
  await store.append('events', itemRun(ITEMS))
  let here = 0
  const database = openReadConnection(path)
  const rows = new Rows(database)
  const reader = new PageReader({ path, identity: identity ?? fileIdentity(path) }, ({ name, page }) => {
    here++
    return readPage(rows, name, page, false)
  })
  t.after(async () => {
    await reader.close()
    database.close()
    await remove()
  })
  const question = { name: 'events', isPublicOnly: false, form, room: { before: 0, after: 0 } }
  return {
    path,
    reader,
    here: () => here,
    read: (...pages) => Promise.all(pages.map((page) => reader.read({ ...question, page }))),
  }
}

/** Until the thread reads all but the first. */
async function whenStarted({ read, here }: Subject): Promise<void> {
  for (let tries = 0, before = Number.NaN; here() !== before + 1; tries++, await sleep(5)) {
    assert.ok(tries < 2_000, 'The thread does not read.')
    before = here()
    await read(...PAGES)
  }
}

function checkPages(reads: readonly (PageRead | undefined)[]): void {
  assert.deepEqual(
    reads.map((read) => read && textsOf(read)),
    pagesOf(ITEMS),
  )
}

describe('the thread that reads pages', () => {
  it('reads those of one turn, and leaves a page that comes first or alone to the event loop', async (t) => {
    const subject = await openReader(t)
    checkPages(await subject.read(...PAGES))
    await whenStarted(subject)
    const before = subject.here()
    for (let round = 0; round < 10; round++) checkPages(await subject.read(...PAGES))
    assert.equal(subject.here(), before + 10)
    const [alone] = await subject.read(2)
    assert.deepEqual(alone && textsOf(alone), pagesOf(ITEMS)[1])
    assert.equal(subject.here(), before + 11)
  })

  it('refuses a damaged page and gives the others', async (t) => {
    const subject = await openReader(t)
    await whenStarted(subject)
    using database = new DatabaseSync(subject.path)
    database.exec(`UPDATE ream SET data = x'0102' WHERE number = 1`)
    const settled = await Promise.allSettled(PAGES.map(async (page) => (await subject.read(page))[0]))
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    await assert.rejects(subject.read(1, 2), isError('corrupt'))
  })

  it('is done without where it cannot open the same file', async (t) => {
    const subject = await openReader(t, { identity: 'another file' })
    for (let round = 0; round < 30; round++, await sleep(10)) checkPages(await subject.read(...PAGES))
    assert.equal(subject.here(), 30 * PAGES.length)
  })

  it('has only so many pages before it: the others are read on the spot, some in each turn', async (t) => {
    const subject = await openReader(t)
    await whenStarted(subject)
    const before = subject.here()
    const reads = await subject.read(...Array.from({ length: 200 }, () => PAGES).flat())
    for (let at = 0; at < reads.length; at += PAGES.length) checkPages(reads.slice(at, at + PAGES.length))
    const here = subject.here() - before
    assert.ok(here > 0 && here <= 800 - 64, `${here} here`)
  })

  it('gives what it was asked for before the end', async (t) => {
    const subject = await openReader(t)
    await whenStarted(subject)
    const before = subject.here()
    const reading = subject.read(...PAGES)
    await new Promise(setImmediate)
    await subject.reader.close()
    checkPages(await reading)
    assert.equal(subject.here(), before + 1)
  })

  it('is done without where the process may have no threads', async (t) => {
    const { store, path, remove } = await openSqliteForTest()
    t.after(remove)
    await store.create('events')
    await store.append('events', itemRun(ITEMS))
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL('../../src/store/sqlite/open.ts', import.meta.url).href)}
      const store = await openSqliteStore({ path: process.argv[1] })
      const reads = await Promise.all([1, 2, 3, 4].map((page) => store.page('events', page, { form: 'raw' })))
      console.log(reads.map(({ page }) => page).join())
      await store.close()`
    const permissions = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*']
    const output = execFileSync(process.execPath, [...permissions, '--input-type=module', '-e', script, path])
    assert.equal(String(output).trim(), '1,2,3,4')
  })

  it('leaves nobody without an answer when it dies, and is started again', async (t) => {
    const threads: Worker[] = []
    const remember = (thread: Worker) => threads.push(thread)
    process.on('worker', remember)
    t.after(() => process.off('worker', remember))
    // Not inflated there: zlib takes the whole process along if it is cut off while it begins.
    const subject = await openReader(t, { form: 'deflated' })
    await whenStarted(subject)
    // The first one belongs to the writer of the store.
    assert.equal(threads.length, 2)
    const reading = Promise.all(Array.from({ length: 20 }, () => subject.read(...PAGES)))
    await new Promise(setImmediate)
    const ended = threads[1]?.terminate()
    for (const reads of await reading) checkPages(reads)
    await ended
    await whenStarted(subject)
    assert.equal(threads.length, 3)
  })

  it('refuses what is asked for after the end', async (t) => {
    const { store, remove } = await openSqliteForTest()
    t.after(remove)
    await store.create('events')
    await store.append('events', itemRun(ITEMS))
    const ask = () => PAGES.map((page) => store.page('events', page, { form: 'deflated' }))
    for (let round = 0; round < 20; round++, await sleep(10)) await Promise.all(ask())
    const last = ask()
    const closing = store.close()
    for (const read of [...last, ...ask()]) await assert.rejects(read, isError('closed'))
    await closing
  })
})
