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
import { describe, it, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { eventLines, putLines } from './items.ts'
import { MAIN, RunningCli, runCli, runInside, workDirectory } from './run-cli.ts'

const ODD_LINES = [
  '{"n":12345678901234567890,"m":1.10,"e":1E5,"z":-0}',
  '{"a":1,"a":2,"__proto__":{"x":[]}}',
  '{ "spaced" : [ 1 , 2 ] }',
  '{"escaped":"\\u00e9\\n\\/ ,\\\\\\"","plain":"é, 日本"}',
  '{}',
]

async function directoryWith(t: TestContext, lines: string): Promise<string> {
  const directory = workDirectory(t)
  await putLines(directory, 'events', lines)
  return directory
}

describe('export', () => {
  it('gives back every item byte for byte, over several reams, and says so on stderr', async (t) => {
    const lines = `${ODD_LINES.join('\n')}\n${eventLines(1600)}`
    const directory = await directoryWith(t, lines)
    assert.deepEqual(await runInside(['export', 'events'], { in: directory }), { status: 0, stdout: lines, stderr: '' })
    const packed = await runInside(['export', 'events', '-o', 'out.ndjson.gz'], { in: directory })
    const stderr = 'events: 1,605 items exported to out.ndjson.gz.\n'
    assert.deepEqual(packed, { status: 0, stdout: '', stderr })
    assert.equal(gunzipSync(readFileSync(join(directory, 'out.ndjson.gz'))).toString(), lines)
    assert.doesNotMatch(readdirSync(directory).join(), /\.part/)
  })

  it('writes through a link, and beside the part files of others', async (t) => {
    const directory = await directoryWith(t, eventLines(3))
    const at = (name: string): string => join(directory, name)
    writeFileSync(at('real.ndjson'), 'old')
    symlinkSync('real.ndjson', at('link.ndjson'))
    writeFileSync(at('real.ndjson.part'), 'precious')
    const words = ['export', 'events', '-o', 'link.ndjson']
    const refused = await runCli(words, { in: directory })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /real\.ndjson already exists\. .*--force/)
    assert.equal(readFileSync(at('real.ndjson'), 'utf8'), 'old')
    assert.equal((await runInside([...words, '--force'], { in: directory })).status, 0)
    assert.ok(lstatSync(at('link.ndjson')).isSymbolicLink())
    assert.equal(readFileSync(at('real.ndjson'), 'utf8'), eventLines(3))
    assert.equal(readFileSync(at('real.ndjson.part'), 'utf8'), 'precious')
    symlinkSync('new.ndjson', at('to-nothing.ndjson'))
    assert.equal((await runInside(['export', 'events', '-o', 'to-nothing.ndjson'], { in: directory })).status, 0)
    assert.equal(readFileSync(at('new.ndjson'), 'utf8'), eventLines(3))
  })

  it('refuses a directory, a file in one that does not exist, and another collection', async (t) => {
    const directory = await directoryWith(t, eventLines(1))
    mkdirSync(join(directory, 'out'))
    const cases: [words: string[], message: string][] = [
      [['events', '-o', 'out', '--force'], 'out is a directory. Name a file in it.'],
      [['events', '-o', 'no/out.ndjson'], 'no/out.ndjson cannot be written: its directory does not exist.'],
      [['event'], 'There is no collection "event". There is events.'],
    ]
    for (const [words, message] of cases) {
      const result = await runInside(['export', ...words], { in: directory })
      assert.deepEqual(result, { status: 2, stdout: '', stderr: `reams: ${message}\n` })
    }
  })

  it('ends quietly when its reader has seen enough', async (t) => {
    const directory = await directoryWith(t, eventLines(50_000))
    const cli = new RunningCli(['export', 'events'], { in: directory })
    await cli.prints('{"id":1,')
    cli.child.stdout?.destroy()
    const { status, stderr } = await cli.ends()
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('says so when stdout is full', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, async (t) => {
    const directory = await directoryWith(t, eventLines(1))
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const stdio: ['ignore', number, 'pipe'] = ['ignore', full, 'pipe']
    const result = spawnSync(process.execPath, [MAIN, 'export', 'events'], { cwd: directory, stdio, encoding: 'utf8' })
    assert.equal(result.status, 3)
    assert.match(result.stderr, /^reams: .*ENOSPC.*\n$/)
  })
})
