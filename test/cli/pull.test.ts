import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, copyFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { explainFailure } from '../../src/cli/client-failure.ts'
import {
  type ClientError,
  CollectionChanged,
  ConnectionLost,
  ForbiddenOrigin,
  HttpError,
  InvalidPage,
  PageTooLarge,
  TimeoutError,
} from '../../src/client/index.ts'
import { type Answered, numberedItems } from '../check/correct-server.ts'
import { mountTmpfs } from '../faults/mounts.ts'
import { lackOf, STRACE, TMPFS } from '../faults/needs.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { refused } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { linesOf, pageOf, serve } from './pull-servers.ts'
import { TOKEN } from './push-servers.ts'
import { runCli, runInside, suiteScope, workDirectory } from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

/** What a parser would change. */
const STRANGE = [
  '{"n":12345678901234567890,"p":1.10,"e":1E5,"z":-0}',
  '{"a":1,"a":2,"__proto__":{"b":[ ]}}',
  '{ "blanks" : "kept" , "escape":"\\u00e9\\/\\n" }',
  '{"text":"é😀\\ud800"}',
  '{}',
]

describe('reams pull', () => {
  it('downloads all items, byte for byte, and says so in one line', async (t) => {
    const directory = workDirectory(t)
    const lines = `${STRANGE.join('\n')}\n${eventLines(1229)}`
    await putLines(directory, 'events', lines)
    const { url } = await serveInside(t, directory)
    const result = await runInside(['pull', `${url}/events`, '-o', 'home.ndjson.gz'], { in: directory })
    assert.equal(result.status, 0, result.stderr)
    assert.equal(result.stdout, '')
    assert.match(
      result.stderr,
      /^events: complete with 1,234 items in home\.ndjson\.gz \(\d+ KB in [\d.]+ m?s.*\)\.\n$/,
    )
    assert.equal(gunzipSync(await readFile(join(directory, 'home.ndjson.gz'))).toString(), lines)
    const { stdout } = await runInside(['pull', `${url}/events`, '--format', 'json'], { in: directory })
    assert.equal(stdout, `[\n${lines.trimEnd().replaceAll('\n', ',\n')}\n]\n`)
  })

  it('writes to standard output, in the format that was asked for, and its summary to stderr', async (t) => {
    const { pull, server } = await serve(t, { items: 600 })
    const { stdout, stderr } = await pull('-o', '-')
    assert.equal(stdout, linesOf(server.items))
    assert.match(stderr, /^events: complete with 600 items \(.*\)\.\n$/)
    const csv = await pull('--format', 'csv', '--columns', 'title,price', '--columns', 'id')
    assert.match(csv.stdout, /^title,price,id\nEvent 1,,1\nEvent 2,,2\n/)
    assert.match(csv.stderr, / No item has a field "price"\.\n$/)
  })

  it('ends without a word when its reader has gone', async (t) => {
    const { start } = await serve(t, { items: 20_000 })
    const cli = start()
    cli.child.stdout?.once('data', () => cli.child.stdout?.destroy())
    const { status, stderr } = await cli.ends()
    assert.equal(stderr, '')
    assert.equal(status, 0)
  })

  it('writes to a device', async (t) => {
    const { pull, names } = await serve(t)
    const { status, stderr } = await pull('-o', '/dev/full')
    assert.equal(status, 3)
    assert.equal(stderr, 'reams: /dev/full cannot be written: the disk is full.\n')
    assert.deepEqual(names(), [])
  })

  it('writes to a named pipe as soon as it has a reader, packed if its name says so', async (t) => {
    const { start, directory, server, names } = await serve(t)
    for (const items of [server.items, []]) {
      server.items = items
      if (items.length > 0) execFileSync('mkfifo', [join(directory, 'pipe.gz')])
      const cli = start('-o', 'pipe.gz')
      await sleep(300)
      const [bytes, { status, stderr }] = await Promise.all([readFile(join(directory, 'pipe.gz')), cli.ends()])
      assert.equal(status, 0, stderr)
      assert.equal(gunzipSync(bytes).toString(), linesOf(items))
    }
    assert.deepEqual(names(), ['pipe.gz'])
  })

  it('can be interrupted while the reader of a named pipe takes nothing', async (t) => {
    const { start, directory, pages } = await serve(t, { items: 20_000 })
    execFileSync('mkfifo', [join(directory, 'pipe')])
    const reader = openSync(join(directory, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
    t.after(() => closeSync(reader))
    const cli = start('-o', 'pipe')
    // As much as is read ahead of a pipe that is full.
    while (pages().length < 6) await sleep(5)
    const { status, stderr } = await cli.stop('SIGINT')
    assert.equal(stderr, 'reams: interrupted by SIGINT.\n')
    assert.equal(status, 130)
  })

  it('says nothing with --quiet, and all in one object with --json', async (t) => {
    const { pull, url } = await serve(t, { items: 600 })
    assert.deepEqual(await pull('-o', 'a.ndjson', '--quiet'), { status: 0, stdout: '', stderr: '' })
    const toFile = await pull('-o', 'b.ndjson', '--json')
    assert.equal(toFile.stderr, '')
    const { duration_ms: durationMs, ...rest } = JSON.parse(toFile.stdout)
    assert.ok(durationMs >= 0)
    const none = { items_before: 0, appended: 0, replaced: false, retries: 0, restarts: 0 }
    const bytes = linesOf(numberedItems(600)).length
    assert.deepEqual(rest, { url, file: 'b.ndjson', format: 'ndjson', items: 600, bytes, ...none })
    const toStdout = await pull('--json')
    assert.equal(toStdout.stdout, linesOf(numberedItems(600)))
    assert.equal(JSON.parse(toStdout.stderr).file, null)
  })

  it('asks this machine for plain answers and any other for packed ones, takes both, and links that --allow-origin allows', async (t) => {
    const { pull, server, directory, url } = await serve(t)
    const encodings = () => [...new Set(server.asked.map(({ headers }) => headers['accept-encoding']))]
    // Some servers pack whatever they are asked for.
    const represent = server.represent.bind(server)
    server.represent = (document, asked) => {
      const { status, headers, body } = represent(document, asked)
      return { status, headers: { ...headers, 'Content-Encoding': 'x-GZIP' }, body: gzipSync(body) }
    }
    assert.equal((await pull()).stdout, linesOf(server.items))
    assert.deepEqual(encodings(), ['identity'])
    server.represent = represent
    server.asked.length = 0
    // An address that leads here, and does not look so.
    const elsewhere = url.replace('127.0.0.1', '[::ffff:7f00:1]')
    server.baseUrl = new URL(elsewhere).origin
    const { stdout, stderr } = await runInside(['pull', elsewhere], { in: directory })
    assert.equal(stdout, linesOf(server.items), stderr)
    assert.deepEqual(encodings(), ['gzip'])
    server.baseUrl = 'https://elsewhere.example'
    assert.equal((await pull()).status, 1)
    assert.equal((await pull('--allow-origin', server.baseUrl)).status, 0)
  })
})

describe('wrong use of reams pull', () => {
  const url = 'http://127.0.0.1:1/events'
  const cases: [words: string[], message: RegExp][] = [
    [['events'], /^reams: "events" is not an absolute URL\. Expected the URL of a collection/],
    [[url, '--resume'], /^reams: --resume needs a file: name it with -o FILE/],
    [[url, '--columns', 'a'], /^reams: --columns is for CSV, and this is ndjson\./],
    [[url, '-o', '.'], /^reams: \. is a directory\. Name a file in it\./],
    [[url, '-o', 'none/e.csv'], /^reams: none\/e\.csv cannot be written: its directory does not/],
    [[url, '-o', 'file/e.csv'], /^reams: file\/e\.csv cannot be written: its directory is a file\./],
    [[url, '-o', 'file.json'], /^reams: file.json already exists\. Name another file, or add --force to overwrite it/],
    [[url, '-o', 'e.csv', '--force'], /^reams: e.csv cannot be written: the name of its .part file is taken by a dir/],
  ]
  const scope = suiteScope()
  const directory = workDirectory(scope)
  for (const name of ['file', 'file.json']) writeFileSync(join(directory, name), '')
  mkdirSync(join(directory, 'e.csv.part'))
  it('is refused with what is wrong', async () => {
    for (const [words, message] of cases) await refused(directory, ['pull', ...words], 2, message)
  })

  it('refuses a directory that it may not write to', async (t) => {
    const lack = process.getuid?.() === 0 ? lackOfOtherUser() : 'it needs root, to become somebody else'
    if (lack !== undefined) return t.skip(lack)
    const { directory } = await serve(t)
    const { status, stderr } = await runCli(['pull', url, '-o', 'e.ndjson'], { in: directory, ...withoutRights() })
    assert.equal(stderr, 'reams: e.ndjson cannot be written: no permission to write into its directory.\n')
    assert.equal(status, 2)
  })
})

function plain(status: number, body = '', headers: Record<string, string> = {}): Answered {
  return { status, headers, body: Buffer.from(body) }
}

describe('the failure of a client, in words for the command line', () => {
  const url = 'http://x.example/events'
  const http = (status: number, method = 'GET') =>
    new HttpError({ url, method }, new Response(null, { status, statusText: 'Text' }))
  const cases: [error: ClientError, exitStatus: number, message: RegExp][] = [
    [http(401), 2, /^Request failed with status 401 Text: GET .*\. A token comes from --token-file or REAMS_TOKEN\.$/],
    [http(403), 2, /status 403 Text/],
    [http(404), 2, /\. Check the URL\. A private collection is found only with a token for it\.$/],
    [http(400), 1, /status 400 Text/],
    [http(413, 'POST'), 1, /: POST .* A smaller --batch sends less at a time\.$/],
    [http(200, 'POST'), 2, / Check the URL: this does not look like a Reams server\.$/],
    [http(308, 'POST'), 2, /status 308/],
    [http(304), 1, /status 304/],
    [http(429), 3, /status 429/],
    [http(500), 3, /status 500/],
    [
      new ConnectionLost({ url }, 'gone'),
      3,
      /^The connection failed: GET http:\/\/x\.example\/events – gone\. Check the URL, and that the server is running\.$/,
    ],
    [new TimeoutError({ url }, 1000), 3, /The option --timeout sets the limit\.$/],
    [new InvalidPage({ url }, 'odd'), 1, /^The response breaks the contract: .* "reams check" shows what/],
    [new PageTooLarge({ url }, 7), 1, /The option --answer-bytes sets the limit\.$/],
    [new ForbiddenOrigin({ url }, 'a link', 200, 'http://y.example'), 1, /--allow-origin allows it\. The token, if/],
    [new CollectionChanged({ url }, 'less'), 1, /^The collection changed while it was read/],
  ]
  for (const [error, exitStatus, message] of cases)
    it(`${error.name} ${error.status ?? ''}: exit status ${exitStatus}`, () => {
      const explained = explainFailure(error)
      assert.equal(explained?.exitStatus, exitStatus)
      assert.match(explained?.message ?? '', message)
    })

  it('leaves open what nobody expected', () => assert.equal(explainFailure(new TypeError('?')), undefined))
})

describe('reams pull of a server that fails', () => {
  it('says so with its exit status, shows no token that comes back, and leaves nothing behind', async (t) => {
    const { directory, url, server, names } = await serve(t)
    server.hook = ({ headers }) =>
      plain(403, JSON.stringify({ title: 'No', detail: `You sent ${headers.authorization}.` }))
    const variables = { REAMS_TOKEN: TOKEN }
    const { status, stdout, stderr } = await runInside(['pull', url, '-o', 'e.ndjson'], { in: directory, variables })
    assert.match(stderr, /^reams: Request failed with status 403 Forbidden: .* You sent Bearer …\.\n$/)
    assert.deepEqual([status, stdout, names()], [2, '', []])
  })

  it('retries and waits as its options say, and names an address where nothing listens', async (t) => {
    const { pull, server } = await serve(t)
    server.delayMs = 20_000
    const late = await pull('--timeout', '1', '--retries', '0')
    assert.match(late.stderr, /Request timed out: .* The option --timeout sets the limit\.\n$/)
    assert.equal(late.status, 3)
    const nobody = await runInside(['pull', 'http://127.0.0.1:1/events', '--retries', '1'], { in: workDirectory(t) })
    assert.match(nobody.stderr, /The connection failed: GET http:\/\/127\.0\.0\.1:1\/events\?page=1 – .*ECONNREFUSED/)
    assert.equal(nobody.status, 3)
  })
})

describe('a collection that changes while it is pulled', () => {
  it('by losing an item, is pulled again from its beginning into a file, and fails to standard output', async (t) => {
    const { pull, server, read } = await serve(t, { items: 3000 })
    server.hook = (asked) => {
      if (pageOf(asked) === 4 && server.items.length === 3000) server.items = server.items.slice(1)
      return undefined
    }
    const toFile = await pull('-o', 'e.ndjson')
    assert.equal(toFile.status, 0, toFile.stderr)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.match(toFile.stderr, /^reams: the collection changed; it is pulled again from its beginning\.\nevents: /)
    assert.match(toFile.stderr, / It changed during the pull and was read again, once\.\n$/)
    server.items = [...server.items, { id: 'last' }]
    const toStdout = await pull()
    assert.match(toStdout.stderr, /^reams: The collection changed while it was read, .* by itself: -o FILE\n$/)
    assert.equal(toStdout.status, 1)
  })
})

describe('a disk', () => {
  it('that is full ends a pull, with what is certain kept', async (t) => {
    const lack = await lackOf([TMPFS])
    if (lack !== undefined) return t.skip(lack)
    const { directory, url, server, read } = await serve(t, { items: 100_000 })
    using disk = mountTmpfs(directory, 2)
    server.delayMs = 60
    const { status, stderr } = await runInside(['pull', url, '-o', 'tmpfs/e.ndjson'], { in: directory })
    assert.match(
      stderr,
      /^reams: tmpfs\/e\.ndjson cannot be written: the disk is full\. [\d,]+ of 100,000 items are in tmp/,
    )
    assert.equal(status, 3)
    for (const name of ['e.ndjson.part', 'e.ndjson.part.json'])
      copyFileSync(join(disk.path, name), join(directory, name))
    server.delayMs = 0
    const resumed = await runInside(['pull', url, '-o', 'e.ndjson', '--resume'], { in: directory })
    assert.match(resumed.stderr, /^events: complete with 100,000 items in e\.ndjson, [\d,]+ of them new/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('that fails at the very end leaves nothing to which a second end could be added', async (t) => {
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

  it('has all of a pulled file before the file gets its name', async (t) => {
    const lack = await lackOf([STRACE])
    if (lack !== undefined) return t.skip(lack)
    const { directory, url, read } = await serve(t, { items: 700 })
    const [path, trace] = [join(directory, 'e.ndjson'), join(directory, 'trace')]
    const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat'
    await using cli = new ReamsProcess(['pull', url, '-o', path], {
      wrapper: ['strace', '-f', '-y', '-qq', '-e', calls, '-o', trace],
    })
    assert.equal((await cli.ends()).status, 0)
    const events = read('trace')
      .toString()
      .split('\n')
      .flatMap((line) =>
        /sync\(.*e\.ndjson\.part>/.test(line) ? ['synced'] : line.includes(`"${path}"`) ? ['named'] : [],
      )
    assert.equal(events.indexOf('named') - events.lastIndexOf('synced', events.indexOf('named')), 1, events.join())
    assert.ok(events.indexOf('synced') >= 0)
  })
})
