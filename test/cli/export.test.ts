import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { refused, run, storeMaker, succeeds } from './directory.ts'
import { eventLines, putLines } from './items.ts'
import { MAIN, RunningCli, workDirectory } from './run-cli.ts'

const ODD_LINES = [
  '{"n":12345678901234567890,"m":1.10,"e":1E5,"z":-0}',
  '{"a":1,"a":2,"__proto__":{"x":[]}}',
  '{ "spaced" : [ 1 , 2 ] }',
  '{"escaped":"\\u00e9\\n\\/ ,\\\\\\"","plain":"é, 日本"}',
  '{}',
]

const withEvents = storeMaker((directory) => putLines(directory, 'events', eventLines(3)))

describe('export', () => {
  it('gives back every item byte for byte, over several reams, and says so on stderr', async (t) => {
    const lines = `${ODD_LINES.join('\n')}\n${eventLines(1600)}`
    const directory = workDirectory(t)
    await putLines(directory, 'events', lines)
    assert.equal(await succeeds(directory, 'export events'), lines)
    const packed = await run(directory, 'export events -o out.ndjson.gz')
    const stderr = 'events: 1,605 items exported to out.ndjson.gz.\n'
    assert.deepEqual(packed, { status: 0, stdout: '', stderr })
    assert.equal(gunzipSync(readFileSync(join(directory, 'out.ndjson.gz'))).toString(), lines)
    assert.doesNotMatch(readdirSync(directory).join(), /\.part/)
  })

  it('writes through a link, and beside the part files of others', async (t) => {
    const directory = await withEvents(t)
    const at = (name: string): string => join(directory, name)
    const read = (name: string): string => readFileSync(at(name), 'utf8')
    writeFileSync(at('real.ndjson'), 'old')
    symlinkSync('real.ndjson', at('link.ndjson'))
    writeFileSync(at('real.ndjson.part'), 'precious')
    await refused(directory, 'export events -o link.ndjson', 2, /real\.ndjson already exists\. .*--force/)
    assert.equal(read('real.ndjson'), 'old')
    assert.equal((await run(directory, 'export events -o link.ndjson --force')).status, 0)
    assert.ok(lstatSync(at('link.ndjson')).isSymbolicLink())
    assert.deepEqual([read('real.ndjson'), read('real.ndjson.part')], [eventLines(3), 'precious'])
    symlinkSync('new.ndjson', at('to-nothing.ndjson'))
    assert.equal((await run(directory, 'export events -o to-nothing.ndjson')).status, 0)
    assert.equal(read('new.ndjson'), eventLines(3))
  })

  it('refuses a directory, a file in one that does not exist, and another collection', async (t) => {
    const directory = await withEvents(t)
    mkdirSync(join(directory, 'out'))
    const cases = {
      'events -o out --force': 'out is a directory. Name a file in it.',
      'events -o no/out.ndjson': 'no/out.ndjson cannot be written: its directory does not exist.',
      event: 'There is no collection "event". There is events.',
    }
    for (const [words, message] of Object.entries(cases)) await refused(directory, `export ${words}`, 2, message)
  })

  it('ends quietly when its reader has seen enough', async (t) => {
    const directory = workDirectory(t)
    // More than fits into the pipe.
    await putLines(directory, 'events', eventLines(50_000))
    const cli = new RunningCli(['export', 'events'], { in: directory })
    await cli.prints('{"id":1,')
    cli.child.stdout?.destroy()
    const { status, stderr } = await cli.ends()
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('says so when stdout is full', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, async (t) => {
    const directory = await withEvents(t)
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const stdio: ['ignore', number, 'pipe'] = ['ignore', full, 'pipe']
    const result = spawnSync(process.execPath, [MAIN, 'export', 'events'], { cwd: directory, stdio, encoding: 'utf8' })
    assert.equal(result.status, 3)
    assert.match(result.stderr, /^reams: .*ENOSPC.*\n$/)
  })
})
