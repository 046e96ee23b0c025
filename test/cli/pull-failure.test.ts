import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../bench/random.ts'
import type { Answered, Links } from '../check/correct-server.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, STRACE, TMPFS } from '../faults/needs.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { SlowProxy } from '../faults/slow-proxy.ts'
import { eventLines, putLines } from './items.ts'
import { HookedServer, linesOf, pageOf, serve, serveWith, startPull } from './pull-servers.ts'
import { addToken, createEvents, TOKEN } from './push-servers.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

const READER = `reams_${'May-read_events'.padEnd(43, 'y')}`

const FAST = ['--retries', '1']

function plain(status: number, body = '', headers: Record<string, string> = {}): Answered {
  return { status, headers, body: Buffer.from(body) }
}

describe('reams pull of a server that fails', () => {
  const problem = JSON.stringify({ title: 'No', detail: 'Not this one.', hint: 'Ask for another.' })
  const cases: [what: string, answer: Answered, status: number, message: RegExp][] = [
    [
      '404',
      plain(404, problem),
      2,
      /status 404 Not Found: GET .* – Not this one\. Ask for another\. Check the URL\. A/,
    ],
    ['401', plain(401), 2, /status 401 Unauthorized: .*\. A token comes from --token-file or REAMS_TOKEN\.$/],
    ['403', plain(403), 2, /status 403 Forbidden/],
    ['400', plain(400, problem), 1, /status 400 Bad Request: .* – Not this one\./],
    ['500', plain(500), 3, /status 500 Internal Server Error/],
    ['503 for longer than a retry', plain(503), 3, /status 503 Service Unavailable/],
    ['429 for an hour', plain(429, '', { 'Retry-After': '3600' }), 3, /status 429 Too Many Requests/],
    ['HTML', plain(200, '<html>'), 1, /The answer breaks the contract: .* "reams check" says more/],
    ['an answer without items', plain(200, '{"item_count":0,"_links":{}}'), 1, /_embedded should hold one array/],
    [
      'a redirect',
      plain(302, '', { Location: 'http://other.example/events' }),
      1,
      /leads to http:\/\/other\.example\/ev/,
    ],
    ['a larger page than allowed', plain(200, `{"a":"${'x'.repeat(3000)}"}`), 1, /2000 bytes.*--answer-bytes sets/],
  ]
  for (const [what, answer, exitStatus, message] of cases)
    it(`with ${what}: says so, exit status ${exitStatus}, and leaves nothing behind`, async (t) => {
      const { pull, server, names } = await serve(t)
      server.hook = () => answer
      const { status, stdout, stderr } = await pull('-o', 'e.ndjson', '--answer-bytes', '2000', ...FAST)
      assert.match(stderr, /^reams: .*\n$/)
      assert.match(stderr.trimEnd(), message)
      assert.equal(stdout, '')
      assert.equal(status, exitStatus)
      assert.deepEqual(names(), [])
    })

  it('says so when nobody listens, or there is no such host', async (t) => {
    const directory = workDirectory(t)
    for (const [url, message] of [
      [
        'http://127.0.0.1:1/events',
        /The connection failed: GET http:\/\/127\.0\.0\.1:1\/events\?page=1 – .*ECONNREFUSED/,
      ],
      ['http://nowhere.invalid/events', /The connection failed: .*(ENOTFOUND|EAI_AGAIN)/],
    ] as const) {
      const { status, stderr } = await runCli(['pull', url, ...FAST], { in: directory })
      assert.match(stderr, message)
      assert.equal(status, 3)
    }
  })

  it('waits for a page no longer than --timeout', async (t) => {
    const { pull, server } = await serve(t)
    server.delayMs = 20_000
    const { status, stderr } = await pull('--timeout', '1', '--retries', '0')
    assert.match(stderr, /Request timed out: .* The option --timeout gives it longer\.\n$/)
    assert.equal(status, 3)
  })

  it('refuses a page that breaks the contract, and keeps those before it', async (t) => {
    class ShortPage extends HookedServer {
      override itemsOn(page: number, ...rest: [never]): readonly unknown[] {
        const items = super.itemsOn(page, ...rest)
        return page === 3 ? items.slice(1) : items
      }
    }
    const { pull, names } = await serveWith(t, new ShortPage({ items: 5000 }))
    const { status, stderr } = await pull('-o', 'e.ndjson', '--concurrency', '1')
    assert.match(
      stderr,
      /it holds 499 items\. .*"reams check" says more .* 1,000 of 5,000 items are in e\.ndjson\.part; add/,
    )
    assert.equal(status, 1)
    assert.deepEqual(names(), ['e.ndjson.part', 'e.ndjson.part.json'])
  })

  it('goes on through lost connections, 429 and 503, and has every item once', async (t) => {
    const { pull, server } = await serve(t, { items: 6000 })
    let answered = 0
    server.hook = () => {
      const turn = answered++ % 9
      if (turn === 2) return 'cut'
      if (turn === 4) return plain(429, '', { 'Retry-After': '0' })
      return turn === 6 ? plain(503) : undefined
    }
    const { status, stdout, stderr } = await pull('--json')
    assert.equal(status, 0, stderr)
    assert.equal(stdout, linesOf(server.items))
    assert.ok(JSON.parse(stderr).retries > 0)
  })
})

describe('reams pull of reams serve', () => {
  it('goes on by itself when the server is killed and started again', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(40_000))
    const { cli: server, url } = await startServer(t, [], { in: directory })
    await using proxy = await SlowProxy.open(url, 60, createRandom(1))
    const cli = startPull(t, directory, `${proxy.url}/events`, '-o', 'e.ndjson', '--allow-origin', url, '--json')
    while (!existsSync(join(directory, 'e.ndjson.part'))) await sleep(5)
    await sleep(300)
    server.child.kill('SIGKILL')
    await server.ends()
    await startServer(t, ['--port', new URL(url).port], { in: directory })
    const { status, stdout, stderr } = await cli.ends()
    assert.equal(status, 0, stderr)
    assert.ok(JSON.parse(stdout).retries > 0)
    assert.equal(readFileSync(join(directory, 'e.ndjson'), 'utf8'), eventLines(40_000))
  })
})

describe('a token', () => {
  async function privateEvents(t: TestContext) {
    const directory = workDirectory(t)
    const store = await createEvents(directory, { isPrivate: true })
    await addToken(store, READER, ['read:events'])
    await store.close()
    const { url } = await startServer(t, [], { in: directory })
    return { directory, url: `${url}/events` }
  }

  it('comes from REAMS_TOKEN or a file, and opens a private collection', async (t) => {
    const { directory, url } = await privateEvents(t)
    const without = await runCli(['pull', url], { in: directory })
    assert.equal(without.status, 2)
    assert.match(without.stderr, /status 404 Not Found: .* A private collection is found only with a token for it\.\n$/)
    const variables = { REAMS_TOKEN: READER }
    assert.equal((await runCli(['pull', url], { in: directory, variables })).status, 0)
    writeFileSync(join(directory, 'token'), `${READER}\n`)
    assert.equal((await runCli(['pull', url, '--token-file', 'token'], { in: directory })).status, 0)
  })

  it('is never printed, not even when the server repeats it', async (t) => {
    const { directory, url, server } = await serve(t)
    const variables = { REAMS_TOKEN: TOKEN }
    server.hook = ({ headers }) =>
      plain(403, JSON.stringify({ title: 'No', detail: `You sent ${headers.authorization}.` }))
    for (const words of [[], ['-o', 'e.ndjson']]) {
      const { stderr } = await runCli(['pull', url, ...words], { in: directory, variables })
      assert.match(stderr, /You sent Bearer …/)
      assert.ok(!stderr.includes(TOKEN.slice(0, 12)), stderr)
    }
  })

  it('goes to no other origin, also where links may lead there', async (t) => {
    const { directory, url, server } = await serve(t, { items: 700 })
    const other = await serve(t, { items: 700 })
    const { origin } = new URL(other.url)
    server.hook = ({ query }) => plain(307, '', { Location: `${other.url}?${query}` })
    other.server.links = (page: number): Links => {
      const to = (target: number) => ({ href: `${url}?page=${target}` })
      return { first: to(1), last: to(2), ...(page === 1 ? { next: to(2) } : { prev: to(1) }) }
    }
    const variables = { REAMS_TOKEN: TOKEN }
    const refused = await runCli(['pull', url], { in: directory, variables })
    assert.match(refused.stderr, /^reams: Another origin: .* the option --allow-origin allows it\./)
    assert.equal(other.server.asked.length, 0)
    const { stdout, stderr } = await runCli(['pull', url, '--allow-origin', origin], { in: directory, variables })
    assert.equal(stdout, linesOf(server.items), stderr)
    assert.ok(server.asked.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`))
    assert.ok(other.server.asked.every(({ headers }) => headers.authorization === undefined))
  })
})

describe('a collection that changes while it is pulled', () => {
  it('by growing, is pulled with all that came', async (t) => {
    const { pull, server, read } = await serve(t, { items: 3000 })
    server.hook = (_asked, number) => {
      if (number < 8) server.items = [...server.items, { id: `new ${number}` }]
      return undefined
    }
    const { status, stderr } = await pull('-o', 'e.ndjson')
    assert.equal(status, 0, stderr)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.match(stderr, /^events: complete with 3,007 items .* 6 items came while it was read\.\n$/)
  })

  it('by losing an item, is pulled again from its beginning', async (t) => {
    const { pull, server, read } = await serve(t, { items: 3000 })
    server.hook = (asked) => {
      if (pageOf(asked) === 4 && server.items.length === 3000) server.items = server.items.slice(1)
      return undefined
    }
    const { status, stderr } = await pull('-o', 'e.ndjson')
    assert.equal(status, 0, stderr)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.match(
      stderr,
      /^reams: the collection is not the same any more; it is pulled again from its beginning\.\nevents: /,
    )
    assert.match(stderr, / It changed meanwhile and was read again, once\.\n$/)
  })

  it('by losing items all the time, fails with exit status 1 and leaves nothing behind', async (t) => {
    const { pull, server, names } = await serve(t, { items: 3000 })
    server.hook = (asked) => {
      if (pageOf(asked) > 2) server.items = server.items.slice(1)
      return undefined
    }
    const { status, stderr } = await pull('-o', 'e.ndjson', '--quiet')
    assert.match(
      stderr,
      /^reams: The collection changed while it was read: GET .*so items may be missing or twice\..*\n$/,
    )
    assert.equal(status, 1)
    assert.deepEqual(names(), [])
  })

  it('by losing an item that went to standard output already, fails with exit status 1', async (t) => {
    const { pull, server } = await serve(t, { items: 3000 })
    server.hook = (asked) => {
      if (pageOf(asked) === 4 && server.items.length === 3000) server.items = server.items.slice(1)
      return undefined
    }
    const direct = await pull()
    assert.match(
      direct.stderr,
      /^reams: The collection changed while it was read, .* begins again by itself: -o FILE\n$/,
    )
    assert.equal(direct.status, 1)
    server.items = [...server.items, { id: 'last' }]
    // As CSV nothing is written before all of it is there.
    const csv = await pull('--format', 'csv')
    assert.equal(csv.status, 0, csv.stderr)
    assert.equal(csv.stdout.trimEnd().split('\n').length, server.items.length + 1)
  })
})

describe('a full disk', () => {
  it('ends a pull, with what is certain kept', async (t) => {
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    const { directory, url, server, read } = await serve(t, { items: 100_000 })
    using disk = mountTmpfs(directory, 2)
    server.delayMs = 60
    const words = ['pull', url, '-o', 'tmpfs/e.ndjson']
    const { status, stderr } = await runCli(words, { in: directory })
    assert.match(
      stderr,
      /^reams: tmpfs\/e\.ndjson cannot be written: the disk is full\. [\d,]+ of 100,000 items are in tmp/,
    )
    assert.equal(status, 3)
    copyFileSync(join(disk.path, 'e.ndjson.part'), join(directory, 'e.ndjson.part'))
    copyFileSync(join(disk.path, 'e.ndjson.part.json'), join(directory, 'e.ndjson.part.json'))
    server.delayMs = 0
    const resumed = await runCli(['pull', url, '-o', 'e.ndjson', '--resume'], { in: directory })
    assert.match(resumed.stderr, /^events: complete with 100,000 items in e\.ndjson, [\d,]+ of them new/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })
})

describe('a disk that fails', () => {
  it('at the very end leaves nothing to which a second end could be added', async (t) => {
    const lack = await lackOf([STRACE])
    if (lack !== undefined) return t.skip(lack)
    const { pull, directory, url, server, read } = await serve(t, { items: 700 })
    const path = join(directory, 'e.json')
    const failing = ['strace', '-f', '-qq', '-P', `${path}.part`, '-e', 'inject=fsync:error=EIO', '-o', '/dev/null']
    await using cli = new ReamsProcess(['pull', url, '-o', path], { wrapper: failing })
    const { status, stderr } = await cli.ends()
    assert.equal(stderr, `reams: ${path} cannot be written: EIO: i/o error, fsync.\n`)
    assert.equal(status, 3)
    assert.equal((await pull('-o', 'e.json', '--resume')).status, 0)
    assert.deepEqual(JSON.parse(read('e.json').toString()), server.items)
  })
})
