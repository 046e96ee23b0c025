import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
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

  it('is read as Excel writes it: sep=, titles, decimal commas and dates, also from a pipe and when served', async (t) => {
    const text = 'sep=;\r\nReport;;\r\nid;price;day\r\n1;1.234,50;31.12.2025\r\n2;;1.2.2025\r\n'
    const directory = directoryWith(t, { 'a.csv': text })
    const flags = ['--skip', '2', '--decimal', 'comma', '--dates', 'dmy']
    const texts = '{"id":"1","price":"1234.50","day":"2025-12-31"}\n{"id":"2","price":"","day":"2025-02-01"}\n'
    const values = '{"id":1,"price":1234.50,"day":"2025-12-31"}\n{"id":2,"price":null,"day":"2025-02-01"}\n'
    const untyped = await runInside(['import', 'a', 'a.csv', ...flags], { in: directory })
    assert.ok(untyped.stdout.includes('. Converted: price, day. CSV values are text; '), untyped.stdout)
    const words = ['import', 'b', '-', '--types', '--format', 'csv', ...flags]
    const typed = await runCli(words, { in: directory, input: text })
    assert.ok(typed.stdout.endsWith('. Converted: price, day. Types: number: id, price; all others text.\n'))
    assert.equal((await runInside(['export', 'a'], { in: directory })).stdout, texts)
    assert.equal((await runInside(['export', 'b'], { in: directory })).stdout, values)
    const none = await runInside(['import', 'c', 'a.csv', '--skip', '2', '--decimal', 'point'], { in: directory })
    assert.ok(!none.stdout.includes('Converted'))
    const served = await startServer(t, ['a.csv:id', ...flags], { in: directory })
    assert.equal(await (await served.get('/a/1')).text(), texts.split('\n')[0])
  })

  it('says that no column could be converted', async (t) => {
    const directory = directoryWith(t, { 'a.csv': 'a;b\n1,5;31.02.2025\nx;\n' })
    const words = ['import', 'a', 'a.csv', '--decimal', 'comma', '--dates', 'dmy']
    const { stdout } = await runInside(words, { in: directory })
    assert.match(stdout, / Converted: no column\. CSV values are text; /)
  })

  it('is what a spreadsheet has to be saved as', async (t) => {
    const directory = directoryWith(t, { 'a.xlsx': 'PK', 'b.ODS': 'PK' })
    for (const [command, name] of [
      [['import', 'a'], 'a.xlsx'],
      [['serve'], 'b.ODS'],
      [['push', 'http://127.0.0.1:1/a'], 'a.xlsx'],
    ] as const) {
      const { status, stderr } = await runInside([...command, name], { in: directory })
      const message = `${name} is a spreadsheet: save it as CSV, in Excel as "CSV UTF-8", and name that file.`
      assert.deepEqual([status, stderr], [2, `reams: ${message}\n`])
    }
  })

  it('is not what a delimiter or types can be given for elsewhere', async (t) => {
    const directory = directoryWith(t, { 'a.ndjson': '{}\n', 'a.csv': 'a\n1\n' })
    for (const [flags, message] of [
      [['--types'], '--types is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
      [['--skip', '1'], '--skip is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
      [['--decimal', 'comma'], '--decimal is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
      [['--dates', 'dmy'], '--dates is for CSV, and this is ndjson. Leave it out, or add --format csv.'],
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

  it('is not what a database gives, so its settings are refused there', async (t) => {
    const directory = workDirectory(t)
    for (const [flag, value] of [
      ['--skip', '1'],
      ['--decimal', 'comma'],
      ['--dates', 'dmy'],
    ] as const) {
      const words = ['import', 'a', '--from', 'shop.db', '--table', 'a', flag, value]
      const { status, stderr } = await runInside(words, { in: directory })
      assert.deepEqual([status, stderr], [2, `reams: ${flag} is for files, and --from names a database.\n`])
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

  it('has the columns of all items for CSV, also of one that comes late', async (t) => {
    const directory = workDirectory(t)
    const lines = Array.from({ length: 1200 }, (_, id) => JSON.stringify(id < 1199 ? { id } : { late: [1], id }))
    writeFileSync(join(directory, 'a.ndjson'), lines.join('\n'))
    await runInside(['import', 'a', 'a.ndjson', '--key', 'id'], { in: directory })
    await withStore(directory, false, (store) => store.delete('a', [...Array(1190).keys()].map(String)))
    const rows = Array.from({ length: 9 }, (_, row) => `${1190 + row},\n`).join('')
    for (const output of [[], ['-o', 'a.csv']]) {
      const { stdout, stderr } = await runInside(['export', 'a', '--format', 'csv', ...output], { in: directory })
      const text = output.length === 0 ? stdout : readFileSync(join(directory, 'a.csv'), 'utf8')
      assert.equal(text, `id,late\n${rows}1199,[1]\n`, stderr)
    }
  })

  it('is empty for CSV of no items, and an error where no item has a field or one is no object', async (t) => {
    const directory = directoryWith(t, { 'none.ndjson': '', 'empty.ndjson': '{}\n{}\n' })
    for (const name of ['none', 'empty']) await runInside(['import', name, `${name}.ndjson`], { in: directory })
    const none = await runInside(['export', 'none', '--format', 'csv'], { in: directory })
    assert.deepEqual([none.status, none.stdout], [0, ''])
    const empty = await runInside(['export', 'empty', '--format', 'csv'], { in: directory })
    assert.deepEqual([empty.status, empty.stdout], [1, ''])
    assert.match(empty.stderr, /^reams: No item has any field, so there are no columns for CSV\./)
  })

  it('has every field for CSV while the collection is written to', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'a.ndjson'), Array.from({ length: 3000 }, (_, id) => `{"id":${id}}\n`).join(''))
    await runInside(['import', 'a', 'a.ndjson', '--key', 'id'], { in: directory })
    await withStore(directory, false, async (store) => {
      let isDone = false
      const writing = (async () => {
        for (let id = 3000; !isDone; id++)
          await store.append('a', itemRun([`{"id":${id},"f${id}":1}`], { keyField: 'id' }))
      })()
      for (let round = 0; round < 3; round++) {
        const { status, stdout, stderr } = await runCli(['export', 'a', '--format', 'csv'], { in: directory })
        assert.deepEqual([status, stderr], [0, ''])
        const [header = '', ...rows] = stdout.trimEnd().split('\n')
        assert.equal(header.split(',').length - 1, rows.length - 3000)
      }
      isDone = true
      await writing
    })
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
