import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { numberedItems } from '../check/correct-server.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines } from './items.ts'
import { HookedServer, linesOf, pageOf, serve, serveWith } from './pull-servers.ts'
import { RunningCli, runCli, startServer, workDirectory } from './run-cli.ts'

/** What a parser would change. */
const STRANGE = [
  '{"n":12345678901234567890,"p":1.10,"e":1E5,"z":-0}',
  '{"a":1,"a":2,"__proto__":{"b":[ ]}}',
  '{ "blanks" : "kept" , "escape":"\\u00e9\\/\\n" }',
  '{"text":"é😀\\ud800"}',
  '{}',
]

describe('reams pull', () => {
  it('brings all items of a served file into a file, byte for byte, and says so in one line', async (t) => {
    const directory = workDirectory(t)
    const lines = `${STRANGE.join('\n')}\n${eventLines(1229)}`
    writeFileSync(join(directory, 'events.ndjson'), lines)
    const { url } = await startServer(t, ['events.ndjson'], { in: directory })
    const result = await runCli(['pull', `${url}/events`, '-o', 'home.ndjson'], { in: directory })
    assert.equal(result.status, 0, result.stderr)
    assert.equal(result.stdout, '')
    assert.match(result.stderr, /^events: complete with 1,234 items in home\.ndjson \(\d+ KB in [\d.]+ m?s.*\)\.\n$/)
    const { stdout } = await runCli(['pull', `${url}/events`], { in: directory })
    assert.equal(stdout, lines)
  })

  for (const items of [0, 1, 499, 500, 501, 1000, 1001])
    it(`ends as it should with ${items} items`, async (t) => {
      const { pull, server, read, names } = await serve(t, { items })
      const result = await pull('-o', 'events.ndjson')
      assert.equal(result.status, 0, result.stderr)
      assert.match(result.stderr, new RegExp(`^events: complete with ${items.toLocaleString('en-US')} items? in `))
      assert.equal(read('events.ndjson').toString(), linesOf(server.items))
      assert.deepEqual(names(), ['events.ndjson'])
    })

  it('pulls a collection without pages', async (t) => {
    const { pull, server } = await serve(t, { items: 700, isPaginated: false })
    assert.equal((await pull()).stdout, linesOf(server.items))
  })

  it('keeps the order, however the answers overtake one another, with no more requests at a time than asked for', async (t) => {
    const server = new HookedServer({ items: 10_000 })
    server.hook = (asked) => {
      server.delayMs = (pageOf(asked) * 37) % 50
      return undefined
    }
    const { pull } = await serveWith(t, server)
    const { stdout } = await pull('--concurrency', '6')
    assert.equal(stdout, linesOf(server.items))
    assert.ok(server.mostInFlight <= 6, `${server.mostInFlight} at a time`)
    assert.ok(server.mostInFlight > 1)
  })

  it('writes a line break between tokens as a blank', async (t) => {
    const { pull } = await serve(t, { items: [{ id: 1, of: [2, 'a\nb'] }], isPretty: true })
    const { stdout } = await pull()
    assert.match(stdout, /^\{ +"id": 1, +"of": \[ +2, +"a\\nb" +\] +\}\n$/)
  })

  it('writes to standard output, and its summary to stderr', async (t) => {
    const { pull, server } = await serve(t, { items: 600 })
    for (const words of [[], ['-o', '-']]) {
      const { stdout, stderr } = await pull(...words)
      assert.equal(stdout, linesOf(server.items))
      assert.match(stderr, /^events: complete with 600 items \(.*\)\.\n$/)
    }
  })

  it('ends without a word when its reader has gone', async (t) => {
    const { directory, url } = await serve(t, { items: 100_000 })
    const cli = new RunningCli(['pull', url], { in: directory })
    t.after(() => cli.child.kill('SIGKILL'))
    cli.child.stdout?.once('data', () => cli.child.stdout?.destroy())
    const { status, stderr } = await cli.ends()
    assert.equal(stderr, '')
    assert.equal(status, 0)
  })

  it('writes to a device', async (t) => {
    const { pull, names } = await serve(t)
    assert.equal((await pull('-o', '/dev/null')).status, 0)
    const { status, stderr } = await pull('-o', '/dev/full')
    assert.equal(status, 3)
    assert.equal(stderr, 'reams: /dev/full cannot be written: the disk is full.\n')
    assert.deepEqual(names(), [])
  })

  it('writes to a named pipe as soon as it has a reader, packed if its name says so', async (t) => {
    const { start, directory, server, names } = await serve(t)
    const throughPipe = async (name: string) => {
      const cli = start('-o', name)
      await sleep(300)
      const [bytes, { status, stderr }] = await Promise.all([readFile(join(directory, name)), cli.ends()])
      assert.equal(status, 0, stderr)
      return bytes
    }
    for (const name of ['pipe', 'pipe.gz']) execFileSync('mkfifo', [join(directory, name)])
    assert.equal((await throughPipe('pipe')).toString(), linesOf(server.items))
    assert.equal(gunzipSync(await throughPipe('pipe.gz')).toString(), linesOf(server.items))
    server.items = []
    assert.equal(gunzipSync(await throughPipe('pipe.gz')).length, 0)
    assert.deepEqual(names(), ['pipe', 'pipe.gz'])
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
    assert.deepEqual(rest, {
      url,
      file: 'b.ndjson',
      format: 'ndjson',
      items: 600,
      items_before: 0,
      bytes: linesOf(numberedItems(600)).length,
      appended: 0,
      replaced: false,
      retries: 0,
      restarts: 0,
    })
    const toStdout = await pull('--json')
    assert.equal(toStdout.stdout, linesOf(numberedItems(600)))
    assert.equal(JSON.parse(toStdout.stderr).file, null)
  })

  it('follows a link to the file', async (t) => {
    const { pull, directory, read } = await serve(t)
    writeFileSync(join(directory, 'real.ndjson'), 'old')
    symlinkSync('real.ndjson', join(directory, 'link.ndjson'))
    assert.equal((await pull('-o', 'link.ndjson', '--force')).status, 0)
    assert.equal(read('real.ndjson').toString(), linesOf(numberedItems(1001)))
    assert.deepEqual(read('link.ndjson'), read('real.ndjson'))
    symlinkSync('new.ndjson', join(directory, 'to-nothing.ndjson'))
    assert.equal((await pull('-o', 'to-nothing.ndjson')).status, 0)
    assert.deepEqual(read('new.ndjson'), read('real.ndjson'))
  })

  it('asks this machine for plain answers, and any other for packed ones', async (t) => {
    const { pull, server, directory, url } = await serve(t)
    const encodings = () => [...new Set(server.asked.map(({ headers }) => headers['accept-encoding']))]
    await pull()
    assert.deepEqual(encodings(), ['identity'])
    server.asked.length = 0
    // An address that leads here, and does not look so.
    const elsewhere = url.replace('127.0.0.1', '[::ffff:7f00:1]')
    server.baseUrl = new URL(elsewhere).origin
    const { stdout, stderr } = await runCli(['pull', elsewhere], { in: directory })
    assert.equal(stdout, linesOf(server.items), stderr)
    assert.deepEqual(encodings(), ['gzip'])
  })

  it('takes packed answers, however the server writes that', async (t) => {
    for (const name of ['gzip', 'GZIP', 'x-gzip']) {
      const { pull, server } = await serve(t)
      const represent = server.represent.bind(server)
      server.represent = (document, asked) => {
        const { status, headers, body } = represent(document, asked)
        return { status, headers: { ...headers, 'Content-Encoding': name }, body: gzipSync(body) }
      }
      const { stdout, stderr } = await pull()
      assert.equal(stdout, linesOf(server.items), stderr)
    }
  })
})

describe('the format', () => {
  it('follows from the name of the file, or from --format, or is NDJSON', async (t) => {
    const { pull, read } = await serve(t, { items: 2 })
    const [first, second] = ['{"id":1,"title":"Event 1"}', '{"id":2,"title":"Event 2"}']
    const ndjson = `${first}\n${second}\n`
    const json = `[\n${first},\n${second}\n]\n`
    const csv = 'id,title\n1,Event 1\n2,Event 2\n'
    const cases = { 'a.ndjson': ndjson, 'a.jsonl': ndjson, a: ndjson, 'a.txt': ndjson, 'a.json': json, 'a.CSV': csv }
    for (const [name, text] of Object.entries(cases)) {
      assert.equal((await pull('-o', name)).status, 0)
      assert.equal(read(name).toString(), text, name)
      const other = name.replace('a', 'b')
      assert.equal((await pull('-o', `${other}.gz`)).status, 0)
      assert.equal(gunzipSync(read(`${other}.gz`)).toString(), text, `${other}.gz`)
    }
    for (const [format, text] of Object.entries({ ndjson, json, csv }))
      assert.equal((await pull('--format', format)).stdout, text)
  })

  it('is whole of an empty collection too', async (t) => {
    const { pull, read } = await serve(t, { items: 0 })
    assert.equal((await pull()).stdout, '')
    assert.equal((await pull('--format', 'json')).stdout, '[]\n')
    assert.equal((await pull('--format', 'csv')).stdout, '')
    assert.equal((await pull('--format', 'csv', '--columns', 'id,title')).stdout, 'id,title\n')
    assert.equal((await pull('-o', 'empty.ndjson.gz')).status, 0)
    assert.equal(gunzipSync(read('empty.ndjson.gz')).length, 0)
  })

  it('JSON is one array of all items, as they were written', async (t) => {
    const directory = workDirectory(t)
    const lines = eventLines(1234) + STRANGE.join('\n')
    writeFileSync(join(directory, 'events.ndjson'), lines)
    const { url } = await startServer(t, ['events.ndjson'], { in: directory })
    const { stdout } = await runCli(['pull', `${url}/events`, '--format', 'json'], { in: directory })
    assert.equal(stdout, `[\n${lines.replaceAll('\n', ',\n')}\n]\n`)
    assert.equal(JSON.parse(stdout).length, 1239)
  })
})

describe('wrong use of reams pull', () => {
  const cases: [words: string[], message: RegExp][] = [
    [['events'], /^reams: "events" is not an absolute URL\. Give the URL of a collection/],
    [['http://127.0.0.1:1/'], /ends with a slash and names no collection/],
    [['http://u:secret@127.0.0.1:1/events'], /^reams: The URL holds a user name or a password\. (?!.*secret)/],
    [['http://127.0.0.1:1/events', '--resume'], /^reams: --resume needs a file to go on with\. Name it: -o FILE/],
    [['http://127.0.0.1:1/events', '--columns', 'a'], /^reams: --columns is for CSV, and this is ndjson\./],
    [['http://127.0.0.1:1/events', '--columns', 'a,,b'], /Invalid --columns "a,,b": expected the name/],
    [['http://127.0.0.1:1/events', '--concurrency', '0'], /expected a whole number from 1 to 100\./],
    [['http://127.0.0.1:1/events', '--allow-origin', 'cdn'], /Invalid --allow-origin "cdn": expected a URL/],
    [['http://127.0.0.1:1/events', '-o', '.'], /^reams: \. is a directory\. Name a file in it\./],
    [
      ['http://127.0.0.1:1/events', '-o', 'none/e.csv'],
      /^reams: none\/e\.csv cannot be written: its directory does not/,
    ],
    [
      ['http://127.0.0.1:1/events', '-o', 'file/e.csv'],
      /^reams: file\/e\.csv cannot be written: what should be its directory is a file\./,
    ],
    [['http://127.0.0.1:1/events', '--token-file', 'none'], /^reams: There is no token file none\. Check the path\./],
  ]
  for (const [words, message] of cases)
    it(`reams pull ${words.join(' ')}`, async (t) => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, 'file'), '')
      const { status, stdout, stderr } = await runCli(['pull', ...words], { in: directory })
      assert.match(stderr, message)
      assert.equal(stdout, '')
      assert.equal(status, 2)
    })

  it('refuses a directory that it may not write to', async (t) => {
    const lack = process.getuid?.() === 0 ? lackOfOtherUser() : 'it needs root, to become somebody else'
    if (lack !== undefined) return t.skip(lack)
    const { directory, url } = await serve(t)
    const { status, stderr } = await runCli(['pull', url, '-o', 'e.ndjson'], { in: directory, ...withoutRights() })
    assert.equal(stderr, 'reams: e.ndjson cannot be written: no permission to write into its directory.\n')
    assert.equal(status, 2)
  })

  it('leaves nothing behind where the part cannot be opened', async (t) => {
    const { pull, directory, names } = await serve(t)
    mkdirSync(join(directory, 'e.ndjson.part'))
    const { status, stderr } = await pull('-o', 'e.ndjson', '--force')
    assert.equal(stderr, 'reams: e.ndjson cannot be written: what should be its part is a directory.\n')
    assert.equal(status, 2)
    assert.deepEqual(names(), ['e.ndjson.part'])
  })

  it('refuses a file that is there, and asks the server nothing; --force overwrites it', async (t) => {
    const { pull, pages, directory, read, names } = await serve(t)
    writeFileSync(join(directory, 'e.ndjson'), 'mine')
    const { status, stderr } = await pull('-o', 'e.ndjson')
    assert.equal(status, 2)
    assert.match(stderr, /^reams: e\.ndjson is there already\. Name another file; or add --resume .*, or --force to/)
    assert.equal(read('e.ndjson').toString(), 'mine')
    assert.equal(pages().length, 0)
    assert.equal((await pull('-o', 'e.ndjson', '--force')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(numberedItems(1001)))
    assert.deepEqual(names(), ['e.ndjson'])
  })
})
