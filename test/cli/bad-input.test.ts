import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventLines, putLines, storedLines } from './items.ts'
import { MAIN, runCli, workDirectory } from './run-cli.ts'

interface BadInput {
  readonly what: string
  readonly file: string
  readonly bytes: string | Uint8Array
  readonly message: RegExp
}

const GOOD = eventLines(2)

const BAD: readonly BadInput[] = [
  { what: 'a line with an array', file: 'x.ndjson', bytes: `${GOOD}[1]\n`, message: /line 3: .*object.*\[1\]/ },
  { what: 'a line with a string', file: 'x.ndjson', bytes: `${GOOD}"x"\n`, message: /line 3: .*object.*"x"/ },
  { what: 'a line with null', file: 'x.ndjson', bytes: `${GOOD}null\n`, message: /line 3: .*object.*null/ },
  { what: 'a line that breaks off', file: 'x.ndjson', bytes: `${GOOD}{"a":1\n`, message: /line 3: .*\{"a":1/ },
  {
    what: 'invalid UTF-8',
    file: 'x.ndjson',
    bytes: Buffer.concat([Buffer.from(`${GOOD}{"a":"`), Buffer.of(0xff), Buffer.from('"}\n')]),
    message: /line 3: .*UTF-8/,
  },
  {
    what: 'an item above the limit',
    file: 'x.ndjson',
    bytes: `${GOOD}{"a":"${'x'.repeat(256 * 1024)}"}\n`,
    message: /line 3: .*(262144|262,144|--item-bytes)/,
  },
  { what: 'JSON that is no array', file: 'x.json', bytes: '{"a":1}', message: /x\.json.*array/ },
  { what: 'JSON that ends in the middle', file: 'x.json', bytes: '[{"a":1},\n{"a":', message: /x\.json, line 2: / },
  { what: 'a CSV row with too many fields', file: 'x.csv', bytes: 'a,b\n1,2\n1,2,3\n', message: /x\.csv, line 3: / },
  {
    what: 'a truncated gzip',
    file: 'x.ndjson.gz',
    bytes: gzipSync(eventLines(5000)).subarray(0, 5000),
    message: /x\.ndjson\.gz.*gzip/,
  },
]

describe('bad input', () => {
  for (const { what, file, bytes, message } of BAD)
    it(`${what} is refused with file and reason, and nothing is lost`, async (t) => {
      const directory = workDirectory(t)
      await putLines(directory, 'events', GOOD)
      writeFileSync(join(directory, file), bytes)
      const result = await runCli(['import', 'events', file], { in: directory })
      assert.equal(result.status, 1, result.stderr)
      assert.ok(result.stderr.startsWith(`reams: ${file}`), result.stderr)
      assert.match(result.stderr, message)
      assert.match(result.stderr, /Nothing was imported\.\n$/)
      assert.doesNotMatch(result.stderr, /\n.*\n/, 'one line, no stack trace')
      assert.equal(result.stdout, '')
      assert.equal(await storedLines(directory, 'events'), GOOD)
    })

  it('a byte-order mark, blank lines and CRLF are no trouble', async (t) => {
    const directory = workDirectory(t)
    const input = '\ufeff{"a":1}\r\n\r\n\n{"a":2}\r\n'
    assert.equal((await runCli(['import', 'events', '-'], { in: directory, input })).status, 0)
    assert.equal(await storedLines(directory, 'events'), '{"a":1}\n{"a":2}\n')
  })

  it('--item-bytes moves the limit', async (t) => {
    const directory = workDirectory(t)
    const words = ['import', 'events', '-', '--item-bytes']
    assert.equal((await runCli([...words, '6'], { in: directory, input: '{"a":1}\n' })).status, 1)
    assert.equal((await runCli([...words, '7'], { in: directory, input: '{"a":1}\n' })).status, 0)
  })

  it('a file that does not exist and a directory are named, and no store is made', async (t) => {
    const directory = workDirectory(t)
    mkdirSync(join(directory, 'folder.ndjson'))
    for (const command of [['import', 'events'], ['serve']]) {
      const missing = await runCli([...command, 'nope.ndjson'], { in: directory })
      assert.equal(missing.status, 2)
      assert.equal(missing.stderr, 'reams: There is no file nope.ndjson. Check the path.\n')
      const folder = await runCli([...command, 'folder.ndjson'], { in: directory })
      assert.equal(folder.status, 2)
      assert.equal(folder.stderr, 'reams: folder.ndjson is a directory. Give a file of items.\n')
    }
    assert.match((await runCli(['collections'], { in: directory })).stderr, /There is no store/)
  })

  it('refuses a directory as standard input, and keeps what is there', async (t) => {
    const directory = workDirectory(t)
    assert.equal((await runCli(['import', 'events', '-'], { in: directory, input: '{"a":1}\n' })).status, 0)
    const stdin = openSync(directory, 'r')
    const result = spawnSync(process.execPath, [MAIN, 'import', 'events', '-', '--replace'], {
      cwd: directory,
      stdio: [stdin, 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    closeSync(stdin)
    assert.equal(result.status, 2)
    assert.match(result.stderr, /Standard input is a directory/)
    assert.equal((await runCli(['export', 'events'], { in: directory })).stdout, '{"a":1}\n')
  })

  it('refuses to skip or replace without a key, and names the flag for what cannot be changed here', async (t) => {
    const directory = workDirectory(t)
    const skipping = await runCli(['import', 'events', '-', '--on-conflict', 'skip'], { in: directory, input: '{}\n' })
    assert.equal(skipping.status, 1)
    assert.match(skipping.stderr, /has no key/)
    await runCli(['import', 'events', '-'], { in: directory, input: '{}\n' })
    const hiding = await runCli(['import', 'events', '-', '--private'], { in: directory, input: '{}\n' })
    assert.match(hiding.stderr, /reams set events --private/)
  })
})
