import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { itemRun } from '../../src/contract/item.ts'
import { openReadConnection } from '../../src/store/sqlite/connection.ts'
import { PageReader } from '../../src/store/sqlite/page-reader.ts'
import { readPage } from '../../src/store/sqlite/read.ts'
import { Rows } from '../../src/store/sqlite/rows.ts'
import { fileIdentity } from '../../src/store/sqlite/store-file.ts'
import type { PageRead } from '../../src/store/store.ts'
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

async function openReader(t: TestContext, identity?: string): Promise<Subject> {
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
  const question = { name: 'events', isPublicOnly: false, form: 'raw', room: { before: 0, after: 0 } } as const
  return {
    path,
    reader,
    here: () => here,
    read: (...pages) => Promise.all(pages.map((page) => reader.read({ ...question, page }))),
  }
}

/** Until the thread reads. */
async function whenStarted({ read, here }: Subject): Promise<void> {
  for (let before = -1; before !== here(); await sleep(5)) {
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
  it('reads those of one turn, and leaves a page that comes alone to the event loop', async (t) => {
    const subject = await openReader(t)
    checkPages(await subject.read(...PAGES))
    await whenStarted(subject)
    const before = subject.here()
    for (let round = 0; round < 10; round++) checkPages(await subject.read(...PAGES))
    assert.equal(subject.here(), before)
    const [alone] = await subject.read(2)
    assert.deepEqual(alone && textsOf(alone), pagesOf(ITEMS)[1])
    assert.equal(subject.here(), before + 1)
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
    const subject = await openReader(t, 'another file')
    for (let round = 0; round < 30; round++, await sleep(10)) checkPages(await subject.read(...PAGES))
    assert.equal(subject.here(), 30 * PAGES.length)
  })

  it('leaves nobody without an answer when it dies, and is started again', async (t) => {
    const threads: Worker[] = []
    const remember = (thread: Worker) => threads.push(thread)
    process.on('worker', remember)
    t.after(() => process.off('worker', remember))
    const subject = await openReader(t)
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
