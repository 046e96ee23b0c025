import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { numberedItems } from '../check/correct-server.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { eventLines, putLines } from './items.ts'
import { linesOf, serve } from './pull-servers.ts'
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

  it('takes the format from the name of the file', async (t) => {
    const { pull, read } = await serve(t, { items: 1 })
    const item = '{"id":1,"title":"Event 1"}'
    const cases = { 'a.jsonl': `${item}\n`, 'a.json.gz': `[\n${item}\n]\n`, 'a.CSV': 'id,title\n1,Event 1\n' }
    for (const [name, text] of Object.entries(cases)) {
      assert.equal((await pull('-o', name)).status, 0)
      const bytes = read(name)
      assert.equal((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString(), text, name)
    }
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
    [
      [url, '-o', 'file.json'],
      /^reams: file.json already exists\. Name another file, or add --force to overwrite it\.\n$/,
    ],
    [
      [url, '-o', 'e.csv', '--force'],
      /^reams: e.csv cannot be written: the name of its .part file is taken by a directory/,
    ],
  ]
  const scope = suiteScope()
  const directory = workDirectory(scope)
  for (const name of ['file', 'file.json']) writeFileSync(join(directory, name), '')
  mkdirSync(join(directory, 'e.csv.part'))
  for (const [words, message] of cases)
    it(`reams pull ${words.join(' ')}`, async () => {
      const { status, stdout, stderr } = await runInside(['pull', ...words], { in: directory })
      assert.match(stderr, message)
      assert.deepEqual([status, stdout], [2, ''])
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
