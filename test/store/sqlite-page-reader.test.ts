import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { type StateTag, stateOf } from '../../src/contract/state-tag.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { KEPT_MS } from '../../src/store/kept-threads.ts'
import { fileIdentity, openReadConnection } from '../../src/store/sqlite/file/store-file.ts'
import { PageReader } from '../../src/store/sqlite/read/page-reader.ts'
import { readPageHere } from '../../src/store/sqlite/read/read.ts'
import { SqliteRows } from '../../src/store/sqlite/rows/sqlite-rows.ts'
import { Statements } from '../../src/store/sqlite/rows/statements.ts'
import type { PageRead, SegmentForm } from '../../src/store/store.ts'
import { allRefused, changed, isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { packedTextsOf, pagesOf, textsOf } from './store-reading.ts'

const ITEMS = itemsFrom(0, 2_000)
const PAGES = [1, 2, 3, 4]

let opened: Awaited<ReturnType<typeof openSqliteForTest>>

before(async () => {
  opened = await openSqliteForTest()
  await opened.store.create('events')
  await opened.store.append('events', itemRun(ITEMS))
})
after(() => opened.remove())

/** `identity` is that of the file it should find. */
async function openReader(t: TestContext, identity?: string, form: SegmentForm = 'raw') {
  const { path } = opened
  let here = 0
  const database = openReadConnection(path)
  const rows = new SqliteRows(new Statements(database))
  const reader = new PageReader({ path, identity: identity ?? fileIdentity(path) }, (question) => {
    here++
    return readPageHere(rows, question)
  })
  t.after(async () => {
    await reader.close()
    database.close()
  })
  const question = { name: 'events', isPublicOnly: false, form, room: { before: 0, after: 0 } }
  return {
    reader,
    /** How many pages were read on the spot so far. */
    here: () => here,
    /** Asks for pages in one turn. */
    read: (...pages: number[]) => Promise.all(pages.map((page) => reader.read({ ...question, page }))),
    readAt: (name: string, tag: StateTag, ...pages: number[]) =>
      Promise.all(pages.map((page) => reader.read({ ...question, name, page, past: { tag, isChanges: false } }))),
  }
}

type Subject = Awaited<ReturnType<typeof openReader>>

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
    const [[data] = []] = await opened.execute('SELECT data FROM ream WHERE number = 1')
    await opened.execute(`UPDATE ream SET data = x'0102' WHERE number = 1`)
    const outcomes = await outcomesOf(PAGES.map((page) => subject.read(page)))
    assert.deepEqual(outcomes, ['done', 'corrupt', 'done', 'done'])
    await assert.rejects(subject.read(1, 2), isError('corrupt'))
    await opened.execute('UPDATE ream SET data = $1 WHERE number = 1', [data as Uint8Array])
  })

  it('reads a page of an earlier state, most of which stands before an item that was changed since, and the rest behind', async (t) => {
    const { store } = opened
    const items = itemsFrom(0, 500).map((text, id) => (id < 250 ? item(id, `,"sum":"${hash('sha256', text)}"`) : text))
    await store.create('things', { keyField: 'id' })
    const head = await store.append('things', keyed(items))
    await store.put('things', keyed([changed(300, 1)]))
    const subject = await openReader(t, undefined, 'deflated')
    await whenStarted(subject)
    const reads = await subject.readAt('things', stateOf(head), 1, 1, 1, 1)
    for (const read of reads) assert.deepEqual(read && packedTextsOf(read), items)
  })

  it('is done without where it cannot open the same file', async (t) => {
    const subject = await openReader(t, 'another file')
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

  it('leaves what takes long, and is read on the spot, to later turns, so that others get theirs', async (t) => {
    let turn = 0
    const readIn: number[] = []
    const reader = new PageReader({ path: opened.path, identity: 'another file' }, () => {
      readIn.push(turn)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30)
      return undefined
    })
    t.after(() => reader.close())
    const question = {
      name: 'events',
      page: 1,
      isPublicOnly: false,
      form: 'raw' as const,
      room: { before: 0, after: 0 },
    }
    let isDone = false
    const reading = Promise.all(PAGES.map(() => reader.read(question))).then(() => {
      isDone = true
    })
    for (; !isDone; turn++) await new Promise(setImmediate)
    await reading
    assert.equal(new Set(readIn).size, PAGES.length, `read in the turns ${readIn}`)
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

  it('is done without where the process may have no threads', () => {
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL('../../src/store/sqlite/open.ts', import.meta.url).href)}
      const store = await openSqliteStore({ path: process.argv[1] })
      const reads = await Promise.all([1, 2, 3, 4].map((page) => store.page('events', page, { form: 'raw' })))
      console.log(reads.map(({ page }) => page).join())
      await store.close()`
    const permissions = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*']
    const output = execFileSync(process.execPath, [...permissions, '--input-type=module', '-e', script, opened.path])
    assert.equal(String(output).trim(), '1,2,3,4')
  })

  it('leaves nobody without an answer when it dies, and is started again', async (t) => {
    // The threads of earlier stores have ended then.
    await sleep(KEPT_MS)
    const threads: Worker[] = []
    const remember = (thread: Worker) => threads.push(thread)
    process.on('worker', remember)
    t.after(() => process.off('worker', remember))
    // Not inflated there: zlib takes the whole process along if it is cut off while it begins.
    const subject = await openReader(t, undefined, 'deflated')
    await whenStarted(subject)
    assert.equal(threads.length, 1)
    const reading = Promise.all(Array.from({ length: 20 }, () => subject.read(...PAGES)))
    await new Promise(setImmediate)
    const ended = threads[0]?.terminate()
    for (const reads of await reading) checkPages(reads)
    await ended
    await whenStarted(subject)
    assert.equal(threads.length, 2)
  })

  it('refuses what is asked for after the end', async () => {
    const store = await opened.openAgain()
    const ask = () => PAGES.map((page) => store.page('events', page, { form: 'deflated' }))
    for (let round = 0; round < 20; round++, await sleep(10)) await Promise.all(ask())
    const last = ask()
    const closing = store.close()
    await allRefused('closed', [...last, ...ask()])
    await closing
  })
})
