import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { withStore } from './items.ts'
import { runCli, runInside, startServer, workDirectory } from './run-cli.ts'

const EUROPEAN = 'id;name;height;open\n01;Ordino, x;1.10;TRUE\n02;Vila;;false\n'
const TEXTS =
  '{"id":"01","name":"Ordino, x","height":"1.10","open":"TRUE"}\n{"id":"02","name":"Vila","height":"","open":"false"}\n'
const TYPED =
  '{"id":"01","name":"Ordino, x","height":1.10,"open":true}\n{"id":"02","name":"Vila","height":null,"open":false}\n'
const TYPES_FOUND = 'Types: number: height; boolean: open; all others text.\n'

function directoryWith(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = workDirectory(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

describe('CSV on the command line', () => {
  it('is read with the delimiter of its header, and says that all values are text', async (t) => {
    const directory = directoryWith(t, { 'semicolons.csv': EUROPEAN, 'tabs.tsv.gz': gzipSync('id\tx\n1\t2\n') })
    const { stdout } = await runInside(['import', 'a', 'semicolons.csv', '--key', 'id'], { in: directory })
    assert.match(stdout, / CSV values are text; --types recognizes numbers, booleans and nulls\.\n$/)
    assert.equal((await runInside(['export', 'a'], { in: directory })).stdout, TEXTS)
    await runInside(['import', 'b', 'tabs.tsv.gz', '--key', 'id'], { in: directory })
    assert.equal((await runInside(['export', 'b'], { in: directory })).stdout, '{"id":"1","x":"2"}\n')
  })

  it('gets types where they are asked for, from a file and from a pipe, and says which', async (t) => {
    const directory = directoryWith(t, { 'a.csv.gz': gzipSync(EUROPEAN) })
    const file = await runInside(['import', 'a', 'a.csv.gz', '--types'], { in: directory })
    const words = ['import', 'b', '-', '--types', '--format', 'csv', '--delimiter', ';']
    const pipe = await runCli(words, { in: directory, input: EUROPEAN })
    for (const [name, { stdout }] of [['a', file] as const, ['b', pipe] as const]) {
      assert.ok(stdout.endsWith(TYPES_FOUND), stdout)
      assert.equal((await runInside(['export', name], { in: directory })).stdout, TYPED)
    }
  })

  it('names the line of an error while types are looked for, and imports nothing', async (t) => {
    const directory = directoryWith(t, { 'a.csv': 'a;b\n1;2\n3\n' })
    const { status, stderr } = await runInside(['import', 'a', 'a.csv', '--types'], { in: directory })
    const reason = 'the row has 1 field, the header has 2: `3`. Nothing was imported.'
    assert.deepEqual([status, stderr], [1, `reams: a.csv, line 3: ${reason}\n`])
  })

  it('is not what a delimiter or types can be given for elsewhere', async (t) => {
    const directory = directoryWith(t, { 'a.ndjson': '{}\n', 'a.csv': 'a\n1\n' })
    for (const [flags, message] of [
      [['--types'], '--types is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
      [['--delimiter', 'tab'], '--delimiter is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
      [
        ['--delimiter', 'x'],
        'Invalid --delimiter "x": expected one character such as , or ; or |, not a letter, digit or quote; or tab.',
      ],
    ] as const)
      for (const command of [
        ['import', 'a', 'a.ndjson'],
        ['serve', 'a.ndjson'],
        ['push', 'http://127.0.0.1:1/a', 'a.ndjson'],
      ]) {
        const { status, stderr } = await runInside([...command, ...flags], { in: directory })
        assert.deepEqual([status, stderr], [2, `reams: ${message}\n`])
      }
  })

  it('is served with types, and with a key for each file', async (t) => {
    const directory = directoryWith(t, { 'a.csv': EUROPEAN, 'b.ndjson': '{"n":7}\n' })
    const server = await startServer(t, ['a.csv:id', 'b.ndjson:n', '--types'], { in: directory })
    assert.equal(await (await server.get('/a/01')).text(), TYPED.split('\n')[0])
    assert.equal((await server.get('/b/7')).status, 200)
  })
})

it('the names of columns come to the terminal as text, and shortened', async (t) => {
  const names = ['\u001b[31mred', 'x'.repeat(20_000)]
  const directory = directoryWith(t, { 'a.csv': `${names.join(';')}\n1;2\n` })
  const { stdout } = await runInside(['import', 'a', 'a.csv', '--types'], { in: directory })
  assert.ok(stdout.length < 1000 && !stdout.includes('\u001b'), stdout)
})

describe('the format of a file that is written', () => {
  it('is told by its extension or --format, for an export', async (t) => {
    const directory = directoryWith(t, { 'a.csv': EUROPEAN })
    await runInside(['import', 'a', 'a.csv', '--types'], { in: directory })
    const cases: [string, string][] = [
      ['o.csv', 'id,name,height,open\n01,"Ordino, x",1.10,true\n02,Vila,,false\n'],
      ['o.tsv', 'id\tname\theight\topen\n01\t"Ordino, x"\t1.10\ttrue\n02\tVila\t\tfalse\n'],
      ['o.json', `[\n${TYPED.trim().replace('\n', ',\n')}\n]\n`],
      ['o.jsonl', TYPED],
    ]
    for (const [name, text] of cases) {
      const { status, stderr } = await runInside(['export', 'a', '-o', name], { in: directory })
      assert.deepEqual([status, stderr], [0, `a: 2 items exported to ${name}.\n`])
      assert.equal(readFileSync(join(directory, name), 'utf8'), text)
    }
    const chosen = await runInside(['export', 'a', '--format', 'csv', '--columns', 'open,id,nix'], { in: directory })
    assert.equal(chosen.stdout, 'open,id,nix\ntrue,01,\nfalse,02,\n')
  })

  it('is that of its extension for a pipe too', async (t) => {
    const directory = directoryWith(t, { 'a.ndjson': '{"id":1}\n' })
    await runInside(['import', 'a', 'a.ndjson'], { in: directory })
    for (const [name, text] of [
      ['o.csv', 'id\n1\n'],
      ['o', '{"id":1}\n'],
    ] as const) {
      execFileSync('mkfifo', [join(directory, name)])
      const reader = promisify(execFile)('cat', [join(directory, name)])
      await runInside(['export', 'a', '-o', name], { in: directory })
      assert.equal((await reader).stdout, text)
    }
  })

  it('has the columns of the first page for CSV, also where the reams before it are nearly empty', async (t) => {
    const directory = workDirectory(t)
    const lines = Array.from({ length: 1200 }, (_, id) => JSON.stringify(id < 500 ? { id } : { id, late: 1 }))
    writeFileSync(join(directory, 'a.ndjson'), lines.join('\n'))
    await runInside(['import', 'a', 'a.ndjson', '--key', 'id'], { in: directory })
    await withStore(directory, false, (store) => store.delete('a', [...Array(499).keys()].map(String)))
    const { stdout } = await runInside(['export', 'a', '--format', 'csv'], { in: directory })
    assert.match(stdout, /^id,late\n499,\n500,1\n/)
  })

  it('is an error where nothing tells it', async (t) => {
    const directory = directoryWith(t, { 'a.ndjson': '{}\n' })
    await runInside(['import', 'a', 'a.ndjson'], { in: directory })
    const server = await startServer(t, ['a.ndjson'], { in: directory })
    for (const command of [
      ['export', 'a'],
      ['pull', `${server.url}/a`],
    ])
      for (const name of ['o.xlsx', 'o', 'o.gz']) {
        const { status, stderr } = await runInside([...command, '-o', name], { in: directory })
        assert.equal(status, 2)
        assert.match(
          stderr,
          /^reams: The name of o\S* does not show its format: .* add --format ndjson, json, csv or tsv\.\n$/,
        )
      }
    const { status } = await runInside(['pull', `${server.url}/a`, '-o', 'o', '--format', 'ndjson'], { in: directory })
    assert.deepEqual([status, readFileSync(join(directory, 'o'), 'utf8')], [0, '{}\n'])
  })
})
