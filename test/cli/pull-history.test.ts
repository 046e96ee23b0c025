import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { numberedItems } from '../check/correct-server.ts'
import { eventLines, putLines } from './items.ts'
import { interruptPull, linesOf, serve } from './pull-servers.ts'
import { runInside, workDirectory } from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

const gone = (status: number) => ({
  status,
  headers: {},
  body: Buffer.from('{"title":"This state is no longer kept"}'),
})

describe('reams pull of a collection with history', () => {
  it('reads the snapshot, and live pages with --no-snapshot', async (t) => {
    const { pull, server, read } = await serve(t, { items: 1700, hasHistory: true })
    const paths = () => [...new Set(server.asked.splice(0).map(({ path }) => path))]
    const { status, stderr } = await pull('-o', 'e.ndjson')
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^events: complete with 1,700 items in e\.ndjson \(.*\)\.\n$/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.deepEqual(paths(), ['/events', '/events@t0'])
    assert.equal((await pull('--no-snapshot')).stdout, linesOf(server.items))
    assert.deepEqual(paths(), ['/events'])
  })

  it('says what to do when every snapshot is gone, or cannot be read, or is not right, and leaves nothing', async (t) => {
    const { pull, server, names } = await serve(t, { items: 1700, hasHistory: true })
    server.hook = ({ path, query }) => (path.includes('@') && query !== 'page=1' ? gone(404) : undefined)
    const { status, stderr } = await pull('-o', 'e.ndjson', '--concurrency', '1', '--quiet')
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^reams: The collection changed while it was read: GET http:.*@t0\?page=2 – its snapshot is gone, so items may be missing or duplicated\. Read it again\. --no-snapshot reads it without one\.\n$/,
    )
    for (const status of [500, 200]) {
      server.hook = ({ path }) => (path.includes('@') ? gone(status) : undefined)
      const { stderr } = await pull('-o', 'e.ndjson', '--retries', '0', '--quiet')
      assert.match(stderr, /^reams: .*GET http:.*@t0.* --no-snapshot reads it without one\.\n$/)
      server.hook = ({ path }) => (path.includes('@') ? undefined : gone(status))
      assert.doesNotMatch((await pull('--retries', '0', '--quiet')).stderr, /--no-snapshot/)
    }
    assert.deepEqual(names(), [])
  })

  it('goes on in the same snapshot with --resume, or begins again when that is gone', async (t) => {
    for (const isKept of [true, false]) {
      const pulled = await serve(t, { items: 5000, hasHistory: true })
      const { pull, server, read, names } = pulled
      await interruptPull(pulled)
      assert.deepEqual(names(), ['e.ndjson.part', 'e.ndjson.part.json'])
      const before = server.items
      server.items = numberedItems(1200, 70_000)
      if (!isKept) server.states.length = 0
      const live = await pull('-o', 'e.ndjson', '--resume', '--no-snapshot')
      assert.equal(live.status, 2)
      assert.match(live.stderr, /^reams: e\.ndjson\.part exists, with part of a snapshot: leave out --no-snapshot to/)
      server.asked.length = 0
      const { status, stderr } = await pull('-o', 'e.ndjson', '--resume')
      assert.equal(status, 0, stderr)
      assert.equal(read('e.ndjson').toString(), linesOf(isKept ? before : server.items))
      assert.match(stderr, isKept ? /5,000 items in e\.ndjson, [\d,]+ of them new/ : /1,200 items.* read again, once\./)
      assert.equal(server.asked.filter(({ path }) => path === '/events').length > 0, !isKept)
    }
  })
})

describe('reams pull of live pages', () => {
  it('says how many items came since it was begun, when it is resumed', async (t) => {
    const pulled = await serve(t, { items: 5000 })
    const { pull, server, read } = pulled
    await interruptPull(pulled)
    server.items = [...server.items, ...numberedItems(700, 70_000)]
    const { stderr } = await pull('-o', 'e.ndjson', '--resume')
    assert.match(
      stderr,
      /5,700 items in e\.ndjson, [\d,]+ of them new \([^)]*\)\. 700 items came since the pull was begun\.\n$/,
    )
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })
})

describe('reams pull of changes', () => {
  it('fetches what is new with --resume, also when it was complete, in every format', async (t) => {
    const { server, read, names, directory, url } = await serve(t, { items: 1001, hasHistory: true })
    server.tag()
    const pull = (...words: string[]) => runInside(['pull', `${url}@t0..`, ...words], { in: directory })
    server.items = [...server.items, ...numberedItems(700, 2000)]
    const textOf = (file: string) => (file.endsWith('.gz') ? gunzipSync(read(file)) : read(file)).toString()
    const files = ['c.ndjson', 'c.json', 'c.csv', 'c.ndjson.gz']
    for (const file of files) assert.equal((await pull('-o', file, '--resume')).status, 0)
    assert.deepEqual(names(), files.flatMap((file) => [file, `${file}.part.json`]).sort())
    const again = await pull('-o', 'c.ndjson')
    assert.equal(
      again.stderr,
      'reams: c.ndjson already exists. Name another file, or add --resume to fetch what is new, or --force to overwrite it.\n',
    )
    server.items = [...server.items, ...numberedItems(600, 3000)]
    for (const file of files) {
      const { status, stderr } = await pull('-o', file, '--resume')
      assert.equal(status, 0, stderr)
      assert.match(stderr, /: complete with 1,300 items in \S+, 600 of them new \([^)]*\)\.\n$/)
      assert.match((await pull('-o', file, '--resume')).stderr, /: complete with 1,300 items in \S+, 0 of them new \(/)
      const fresh = `fresh-${file}`
      await pull('-o', fresh)
      assert.equal(textOf(file), textOf(fresh))
    }
    // It is not taken for another list, and is still the same one after that mistake.
    const other = await runInside(['pull', `${url}@t1..`, '-o', 'c.json', '--resume'], { in: directory })
    assert.match(other.stderr, /^reams: c\.json already exists\. Name another file, or add --force/)
    assert.match((await pull('-o', 'c.json', '--resume')).stderr, /0 of them new/)
  })

  it('that are kept no longer leaves what is there, and says what to do', async (t) => {
    const { server, read, directory, url } = await serve(t, { items: 1001, hasHistory: true })
    server.tag()
    server.items = [...server.items, ...numberedItems(700, 2000)]
    const pull = () => runInside(['pull', `${url}@t0..`, '-o', 'c.ndjson', '--resume'], { in: directory })
    await pull()
    const before = read('c.ndjson')
    server.hook = () => ({ ...gone(410), body: Buffer.from('{"title":"It is no longer kept","hint":"Begin again."}') })
    const { status, stderr } = await pull()
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^reams: Request failed with status 410 Gone: GET http:.*@t0\.\.\?page=\d – It is no longer kept Begin again\.\n$/,
    )
    assert.deepEqual(read('c.ndjson'), before)
  })
})

describe('reams pull from our own server', () => {
  const COUNT = 5_000

  async function served(t: TestContext) {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(COUNT), { keyField: 'id' })
    const { store, url } = await serveInside(t, directory)
    return { directory, url: `${url}/events`, store }
  }

  it('is exact while others delete: a state that the collection was in, at the first attempt', async (t) => {
    const { directory, url, store } = await served(t)
    let isRunning = true
    const words = ['pull', url, '-o', 'e.ndjson', '--json', '--concurrency', '1']
    const pulled = runInside(words, { in: directory }).finally(() => {
      isRunning = false
    })
    let deleted = 0
    while (isRunning) await store.delete('events', [String(++deleted)])
    const { status, stdout, stderr } = await pulled
    assert.equal(status, 0, stderr)
    const { items, restarts } = JSON.parse(stdout)
    assert.equal(restarts, 0)
    // Those before the first were deleted, in order; and there is none missing behind it.
    assert.ok(items <= COUNT && items > COUNT - deleted - 1)
    assert.equal(readFileSync(join(directory, 'e.ndjson'), 'utf8'), eventLines(items, COUNT + 1 - items))
  })

  it('takes the address of a snapshot and of the changes since, which a copy can follow', async (t) => {
    const { directory, url, store } = await served(t)
    const page = (await (await fetch(url)).json()) as { _links: { snapshot: { href: string } } }
    const { href } = page._links.snapshot
    const run = async (...words: string[]) => {
      const { status, stderr } = await runInside(['pull', ...words], { in: directory })
      assert.equal(status, 0, stderr)
    }
    const read = (name: string) => readFileSync(join(directory, name), 'utf8')
    await store.delete('events', ['7'])
    await store.append('events', itemRun(['{"id":"new"}'], { keyField: 'id' }))
    await run(href, '-o', 'state.ndjson')
    assert.equal(read('state.ndjson'), eventLines(COUNT))
    await run(`${href}..`, '-o', 'changes.ndjson', '--resume')
    await store.delete('events', ['new'])
    await run(`${href}..`, '-o', 'changes.ndjson', '--resume')
    const lines = read('changes.ndjson').trimEnd().split('\n')
    const changes = lines.map((line) => JSON.parse(line)).map(({ op, key }) => `${op} ${key}`)
    assert.deepEqual(changes, ['delete 7', 'put new', 'delete new'])
  })
})
