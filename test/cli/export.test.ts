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
import { MAIN, RunningCli, runCli, workDirectory } from './run-cli.ts'

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
  it('gives back every item byte for byte, over several reams', async (t) => {
    const directory = workDirectory(t)
    const lines = `${ODD_LINES.join('\n')}\n${eventLines(1600)}`
    assert.equal((await runCli(['import', 'events', '-'], { in: directory, input: lines })).status, 0)
    const result = await runCli(['export', 'events'], { in: directory })
    assert.equal(result.stdout, lines)
    assert.equal(result.stderr, '')
    assert.equal(result.status, 0)
  })

  it('of an empty collection is empty', async (t) => {
    const directory = await directoryWith(t, '')
    const result = await runCli(['export', 'events'], { in: directory })
    assert.deepEqual(result, { status: 0, stdout: '', stderr: '' })
  })

  it('writes a file, or a compressed one, and says so on stderr', async (t) => {
    const directory = await directoryWith(t, eventLines(700))
    const plain = await runCli(['export', 'events', '-o', 'out.ndjson'], { in: directory })
    assert.deepEqual(plain, { status: 0, stdout: '', stderr: 'events: 700 items exported to out.ndjson.\n' })
    assert.equal(readFileSync(join(directory, 'out.ndjson'), 'utf8'), eventLines(700))
    assert.equal((await runCli(['export', 'events', '-o', 'out.ndjson.gz'], { in: directory })).status, 0)
    assert.equal(gunzipSync(readFileSync(join(directory, 'out.ndjson.gz'))).toString(), eventLines(700))
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.endsWith('.part')),
      [],
    )
  })

  it('writes into a device or a pipe, through a link, and beside the part files of others', async (t) => {
    const directory = await directoryWith(t, eventLines(3))
    const at = (name: string): string => join(directory, name)
    assert.equal((await runCli(['export', 'events', '-o', '/dev/null'], { in: directory })).status, 0)
    assert.ok(lstatSync('/dev/null').isCharacterDevice())
    writeFileSync(at('real.ndjson'), 'old')
    symlinkSync('real.ndjson', at('link.ndjson'))
    writeFileSync(at('real.ndjson.part'), 'precious')
    assert.equal((await runCli(['export', 'events', '-o', 'link.ndjson', '--force'], { in: directory })).status, 0)
    assert.ok(lstatSync(at('link.ndjson')).isSymbolicLink())
    assert.equal(readFileSync(at('real.ndjson'), 'utf8'), eventLines(3))
    assert.equal(readFileSync(at('real.ndjson.part'), 'utf8'), 'precious')
  })

  it('overwrites a file only with --force', async (t) => {
    const directory = await directoryWith(t, eventLines(1))
    const file = join(directory, 'out.ndjson')
    writeFileSync(file, 'precious')
    const refused = await runCli(['export', 'events', '-o', 'out.ndjson'], { in: directory })
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /out\.ndjson is there already\. .*--force/)
    assert.equal(readFileSync(file, 'utf8'), 'precious')
    assert.equal((await runCli(['export', 'events', '-o', 'out.ndjson', '--force'], { in: directory })).status, 0)
    assert.equal(readFileSync(file, 'utf8'), eventLines(1))
  })

  it('refuses a directory, and a file in a directory that does not exist', async (t) => {
    const directory = await directoryWith(t, eventLines(1))
    mkdirSync(join(directory, 'out'))
    const folder = await runCli(['export', 'events', '-o', 'out', '--force'], { in: directory })
    assert.deepEqual([folder.status, folder.stderr], [2, 'reams: out is a directory. Name a file in it.\n'])
    const nowhere = await runCli(['export', 'events', '-o', 'no/out.ndjson'], { in: directory })
    assert.equal(nowhere.status, 2)
    assert.match(nowhere.stderr, /no\/out\.ndjson cannot be written: its directory does not exist/)
  })

  it('names the collections there are when it is asked for another', async (t) => {
    const directory = await directoryWith(t, eventLines(1))
    const result = await runCli(['export', 'event'], { in: directory })
    assert.equal(result.status, 2)
    assert.equal(result.stderr, 'reams: There is no collection "event". There is events.\n')
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
    const result = spawnSync(process.execPath, [MAIN, 'export', 'events'], {
      cwd: directory,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    assert.equal(result.status, 3)
    assert.match(result.stderr, /^reams: .*ENOSPC.*\n$/)
  })
})
