import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createReport } from '../../src/cli/commands/pull/report.ts'
import { PullStopped, pullToFile } from '../../src/cli/commands/pull/to-file.ts'
import { SettingValues } from '../../src/cli/setting-values.ts'
import { openCollection } from '../../src/client/index.ts'
import type { InputFormat } from '../../src/items/read-items.ts'
import { CorrectServer, numberedItems } from '../check/correct-server.ts'
import { EVENTS, inProcess, pagesAsked } from '../client/hostile-server.ts'
import { interruptPull, linesOf, noteOf, serve, startPull } from './pull-servers.ts'
import { temporaryFilesOf, workDirectory } from './run-cli.ts'

const ITEMS = 5000

const QUIET = new SettingValues(['quiet', 'json'], { quiet: true }, {})

interface Wish {
  readonly format?: InputFormat
  readonly columns?: readonly string[]
  readonly isPacked?: boolean
  readonly isResumed?: boolean
  readonly isForced?: boolean
  readonly url?: string
  /** The server answers so many requests, and then no more. */
  readonly requests?: number
}

/** Pulls in this process, into files of a directory of its own. */
class Puller {
  readonly directory: string
  readonly server = new CorrectServer({ items: ITEMS })
  asked: number[] = []

  constructor(t: TestContext) {
    this.directory = workDirectory(t)
  }

  at(name: string): string {
    return join(this.directory, name)
  }

  async pull(name: string, wish: Wish = {}) {
    const { format = 'ndjson', columns, isPacked = false, isResumed = false, isForced = false, url = EVENTS } = wish
    const { fetch, requests } = inProcess(this.server, (_request, number) => {
      if (number > (wish.requests ?? Number.POSITIVE_INFINITY)) throw new Error('the network is gone')
      return undefined
    })
    const options = { fetch, concurrency: 1, retry: { retries: 0 } }
    const path = this.at(name)
    using report = createReport({ url, name, format, path, token: undefined, settings: QUIET })
    try {
      return await pullToFile({
        subject: { url, format, columns, isPacked },
        collection: openCollection(EVENTS, options),
        signal: new AbortController().signal,
        report,
        path,
        isResumed,
        isForced,
      })
    } finally {
      this.asked = pagesAsked(requests)
    }
  }

  /** Pulls until the network is gone, and answers how many items are certain. */
  async stopped(name: string, wish: Wish = {}): Promise<number> {
    const error = await this.pull(name, { requests: 6, ...wish }).catch((error) => error)
    assert.ok(error instanceof PullStopped, String(error))
    const [, count = ''] = /^([\d,]+) of 5,000 items are in .*\.part; add --resume to continue/.exec(error.kept) ?? []
    return Number(count.replace(',', ''))
  }

  read(name: string): string {
    const bytes = readFileSync(this.at(name))
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  }

  names(): string[] {
    return readdirSync(this.directory).filter((name) => this.at(name) !== temporaryFilesOf(this.directory))
  }
}

describe('a pull that was stopped', () => {
  const forms: [name: string, wish: Wish][] = [
    ['e.ndjson', {}],
    ['e.json', { format: 'json' }],
    ['e.csv', { format: 'csv' }],
    ['e.csv', { format: 'csv', columns: ['title', 'id'] }],
    ['e.ndjson.gz', { isPacked: true }],
    ['e.json.gz', { format: 'json', isPacked: true }],
  ]
  for (const [name, wish] of forms)
    it(`is resumed behind what is certain: ${name} ${wish.columns ?? ''}`, async (t) => {
      const puller = new Puller(t)
      const items = await puller.stopped(name, wish)
      assert.ok(items > 0 && items < ITEMS)
      assert.deepEqual(puller.names(), [`${name}.part`, `${name}.part.json`])
      const outcome = await puller.pull(name, { ...wish, isResumed: true })
      assert.deepEqual([outcome.items, outcome.itemsBefore], [ITEMS, items])
      // One page that was there is asked for again, to see whether it is still the same.
      assert.ok(puller.asked.every((page) => page >= items / 500))
      assert.deepEqual(puller.names(), [name])
      const fresh = new Puller(t)
      await fresh.pull(name, wish)
      assert.equal(puller.read(name), fresh.read(name))
    })

  it('loses what is behind the last certain item, and is begun again if some of what is certain is missing', async (t) => {
    const puller = new Puller(t)
    await puller.stopped('e.ndjson')
    const { bytes } = JSON.parse(puller.read('e.ndjson.part.json'))
    appendFileSync(puller.at('e.ndjson.part'), '{"half of an it')
    await puller.pull('e.ndjson', { isResumed: true })
    assert.equal(puller.read('e.ndjson'), linesOf(puller.server.items))
    await puller.stopped('f.ndjson')
    truncateSync(puller.at('f.ndjson.part'), bytes - 1)
    assert.equal((await puller.pull('f.ndjson', { isResumed: true })).itemsBefore, 0)
    assert.equal(puller.read('f.ndjson'), linesOf(puller.server.items))
  })

  it('is not overwritten, nor resumed as another one, without --force', async (t) => {
    const puller = new Puller(t)
    const items = await puller.stopped('e.csv', { format: 'csv', columns: ['id'] })
    const begin = 'Pull to another file, or add --force to start over.'
    const shown = items.toLocaleString('en-US')
    const cases: [wish: Wish, message: string][] = [
      [{}, `, with ${shown} items of an interrupted pull. Add --resume to resume it, or --force to start over.`],
      [{ isResumed: true, format: 'json' }, `, csv. ${begin}`],
      [{ isResumed: true, format: 'csv' }, `, with --columns id. ${begin}`],
      [{ isResumed: true, url: 'http://other.example/events' }, `, of ${EVENTS}. ${begin}`],
    ]
    for (const [wish, message] of cases) {
      const expected = { exitStatus: 2, message: `${puller.at('e.csv.part')} exists${message}` }
      await assert.rejects(puller.pull('e.csv', wish), expected)
      assert.deepEqual(puller.asked, [])
    }
    writeFileSync(puller.at('e.csv.part.json'), 'x')
    for (const isResumed of [false, true])
      await assert.rejects(puller.pull('e.csv', { isResumed }), {
        message: `${puller.at('e.csv.part')} exists, but its progress file is missing or unreadable. ${begin}`,
      })
    await puller.pull('e.csv', { format: 'csv', isForced: true })
    assert.equal(puller.read('e.csv').split('\n', 1)[0], 'id,title')
  })

  it('leaves the file that is there until the new one is complete, and who may read it', async (t) => {
    const puller = new Puller(t)
    writeFileSync(puller.at('e.ndjson'), 'old')
    chmodSync(puller.at('e.ndjson'), 0o600)
    await puller.stopped('e.ndjson', { isForced: true })
    assert.equal(puller.read('e.ndjson'), 'old')
    await assert.rejects(puller.pull('e.ndjson'), /add --resume to resume the interrupted pull, or --force to/)
    await puller.pull('e.ndjson', { isResumed: true })
    assert.equal(puller.read('e.ndjson'), linesOf(puller.server.items))
    assert.equal(statSync(puller.at('e.ndjson')).mode & 0o777, 0o600)
  })

  it('is nothing to resume before its first page, and when it is complete', async (t) => {
    const puller = new Puller(t)
    assert.equal(await puller.stopped('e.ndjson', { requests: 0 }), 0)
    assert.deepEqual(puller.names(), [])
    await puller.pull('e.ndjson', { isResumed: true })
    // As of one that was killed just before its end.
    writeFileSync(puller.at('e.ndjson.part.json'), '{}')
    await assert.rejects(puller.pull('e.ndjson', { isResumed: true }), {
      exitStatus: 2,
      message: `${puller.at('e.ndjson')} already exists. Name another file, or add --force to overwrite it.`,
    })
    assert.deepEqual(puller.names(), ['e.ndjson'])
  })

  it('leaves nothing behind where the next one would fail too', async (t) => {
    const puller = new Puller(t)
    puller.server.items = [...numberedItems(3000), { id: 3001, late: true }]
    await assert.rejects(puller.pull('e.csv', { format: 'csv' }), PullStopped)
    assert.deepEqual(puller.names(), [])
  })
})

describe('reams pull --resume', () => {
  /** Pages enough for a pull with 60 ms a page to come to its first note. */
  const items = 40_000

  it('goes on after kill -9, and meanwhile refuses a second pull to the file', async (t) => {
    const { start, pull, server, directory, read, names, url } = await serve(t, { items })
    server.delayMs = 60
    const cli = start('-o', 'e.ndjson')
    const { items: certain } = await noteOf(directory, 'e.ndjson')
    // From now on nothing comes any more.
    server.delayMs = 1_000_000
    const second = await startPull(t, directory, url, '-o', 'e.ndjson', '--force').ends()
    assert.equal(second.stderr, 'reams: Another pull to e.ndjson is running. Wait until it has ended.\n')
    assert.equal(second.status, 3)
    cli.child.kill('SIGKILL')
    await cli.ends()
    server.delayMs = 0
    const { status, stderr } = await pull('-o', 'e.ndjson', '--resume')
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^events: complete with 40,000 items in e\.ndjson, [\d,]+ of them new \(/)
    assert.ok(certain > 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.deepEqual(names(), ['e.ndjson'])
  })

  it('goes on after SIGTERM, which leaves all that had come', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, server, read, names } = pulled
    const { status, stderr } = await interruptPull(pulled, 'SIGTERM')
    assert.equal(status, 143)
    const [, count = ''] =
      /^reams: interrupted by SIG\w+\. ([\d,]+) of 5,000 items are in e\.ndjson\.part; add --resume to continue from there\.\n$/.exec(
        stderr,
      ) ?? []
    assert.deepEqual(names(), ['e.ndjson.part', 'e.ndjson.part.json'])
    assert.equal(read('e.ndjson.part').toString(), linesOf(numberedItems(Number(count.replace(',', '')))), stderr)
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })
})
