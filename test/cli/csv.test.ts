import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { itemRun } from '../../src/items/item-run.ts'
import { directoryWith, refused, run, succeeds } from './directory.ts'
import { putLines, storedLines, withStore } from './items.ts'
import { startServer, workDirectory } from './run-cli.ts'

const EUROPEAN = 'id;name;height;open\n01;Ordino, x;1.10;TRUE\n02;Vila;;false\n'
const TEXTS =
  '{"id":"01","name":"Ordino, x","height":"1.10","open":"TRUE"}\n{"id":"02","name":"Vila","height":"","open":"false"}\n'
const TYPED =
  '{"id":"01","name":"Ordino, x","height":1.10,"open":true}\n{"id":"02","name":"Vila","height":null,"open":false}\n'
const TYPES_FOUND = 'Types: number: height; boolean: open; all others text.\n'

describe('CSV on the command line', () => {
  it('is read with the delimiter of its header, and says that all values are text', async (t) => {
    const directory = directoryWith(t, { 'semicolons.csv': EUROPEAN, 'tabs.tsv.gz': gzipSync('id\tx\n1\t2\n') })
    const stdout = await succeeds(directory, 'import a semicolons.csv --key id')
    assert.match(stdout, / CSV values are text; --types recognizes numbers, booleans and nulls\.\n$/)
    assert.equal(await storedLines(directory, 'a'), TEXTS)
    await succeeds(directory, 'import b tabs.tsv.gz --key id')
    assert.equal(await storedLines(directory, 'b'), '{"id":"1","x":"2"}\n')
  })

  it('gets types where they are asked for, from a file and from a pipe, and says which', async (t) => {
    const directory = directoryWith(t, { 'a.csv.gz': gzipSync(EUROPEAN) })
    const file = await succeeds(directory, 'import a a.csv.gz --types')
    const words = 'import b - --types --format csv --delimiter ;'
    const pipe = await succeeds(directory, words, { input: EUROPEAN })
    for (const [name, stdout] of Object.entries({ a: file, b: pipe })) {
      assert.ok(stdout.endsWith(TYPES_FOUND), stdout)
      assert.equal(await storedLines(directory, name), TYPED)
    }
  })

  it('is read as Excel writes it: sep=, titles, decimal commas and dates, also from a pipe and when served', async (t) => {
    const text = 'sep=;\r\nReport;;\r\nid;price;day\r\n1;1.234,50;31.12.2025\r\n2;;1.2.2025\r\n'
    const directory = directoryWith(t, { 'a.csv': text, 'b.ndjson': '{"n":7}\n' })
    const flags = '--skip 2 --decimal comma --dates dmy'
    const texts = '{"id":"1","price":"1234.50","day":"2025-12-31"}\n{"id":"2","price":"","day":"2025-02-01"}\n'
    const values = '{"id":1,"price":1234.50,"day":"2025-12-31"}\n{"id":2,"price":null,"day":"2025-02-01"}\n'
    const untyped = await succeeds(directory, `import a a.csv ${flags}`)
    assert.ok(untyped.includes('. Converted: price, day. CSV values are text; '), untyped)
    const typed = await succeeds(directory, `import b - --types --format csv ${flags}`, { input: text })
    assert.ok(typed.endsWith('. Converted: price, day. Types: number: id, price; all others text.\n'))
    assert.equal(await storedLines(directory, 'a'), texts)
    assert.equal(await storedLines(directory, 'b'), values)
    assert.ok(!(await succeeds(directory, 'import c a.csv --skip 2 --decimal point')).includes('Converted'))
    const words = ['a.csv:id', 'b.ndjson:n', '--types', ...flags.split(' ')]
    const served = await startServer(t, words, { in: directory })
    assert.equal(await (await served.get('/a/1')).text(), values.split('\n')[0])
    assert.equal((await served.get('/b/7')).status, 200)
  })

  it('says that no column could be converted', async (t) => {
    const directory = directoryWith(t, { 'a.csv': 'a;b\n1,5;31.02.2025\nx;\n' })
    const stdout = await succeeds(directory, 'import a a.csv --decimal comma --dates dmy')
    assert.match(stdout, / Converted: no column\. CSV values are text; /)
  })
})

it('the names of columns come to the terminal as text, and shortened', async (t) => {
  const names = ['\u001b[31mred', 'x'.repeat(20_000)]
  const directory = directoryWith(t, { 'a.csv': `${names.join(';')}\n1;2\n` })
  const stdout = await succeeds(directory, 'import a a.csv --types')
  assert.ok(stdout.length < 1000 && !stdout.includes('\u001b'), stdout)
})

describe('the format of a file that is written', () => {
  it('is told by its extension or --format, for an export', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'a', TYPED)
    const cases: [string, string][] = [
      ['o.csv', 'id,name,height,open\n01,"Ordino, x",1.10,true\n02,Vila,,false\n'],
      ['o.tsv', 'id\tname\theight\topen\n01\t"Ordino, x"\t1.10\ttrue\n02\tVila\t\tfalse\n'],
      ['o.json', `[\n${TYPED.trim().replace('\n', ',\n')}\n]\n`],
      ['o.jsonl', TYPED],
    ]
    for (const [name, text] of cases) {
      const { status, stderr } = await run(directory, `export a -o ${name}`)
      assert.deepEqual([status, stderr], [0, `a: 2 items exported to ${name}.\n`])
      assert.equal(readFileSync(join(directory, name), 'utf8'), text)
    }
    const chosen = await succeeds(directory, 'export a --format csv --columns open,id,nix')
    assert.equal(chosen, 'open,id,nix\ntrue,01,\nfalse,02,\n')
  })

  it('is that of its extension for a pipe too', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'a', '{"id":1}')
    for (const [name, text] of Object.entries({ 'o.csv': 'id\n1\n', o: '{"id":1}\n' })) {
      execFileSync('mkfifo', [join(directory, name)])
      const reader = promisify(execFile)('cat', [join(directory, name)])
      await run(directory, `export a -o ${name}`)
      assert.equal((await reader).stdout, text)
    }
  })

  it('has the columns of all items for CSV, also of one that comes late', async (t) => {
    const directory = workDirectory(t)
    const lines = Array.from({ length: 1200 }, (_, id) => JSON.stringify(id < 1199 ? { id } : { late: [1], id }))
    await putLines(directory, 'a', lines.join('\n'), { keyField: 'id' })
    await withStore(directory, false, (store) => store.delete('a', [...Array(1190).keys()].map(String)))
    const rows = Array.from({ length: 9 }, (_, row) => `${1190 + row},\n`).join('')
    for (const output of ['', ' -o a.csv']) {
      const { stdout, stderr } = await run(directory, `export a --format csv${output}`)
      const text = output === '' ? stdout : readFileSync(join(directory, 'a.csv'), 'utf8')
      assert.equal(text, `id,late\n${rows}1199,[1]\n`, stderr)
    }
  })

  it('is empty for CSV of no items, and an error where no item has a field', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'none', '')
    await putLines(directory, 'empty', '{}\n{}')
    assert.equal(await succeeds(directory, 'export none --format csv'), '')
    const message = /^reams: No item has any field, so there are no columns for CSV\./
    await refused(directory, 'export empty --format csv', 1, message)
  })

  it('has every field for CSV while the collection is written to', async (t) => {
    const directory = workDirectory(t)
    const ids = Array.from({ length: 3000 }, (_, id) => `{"id":${id}}`)
    await putLines(directory, 'a', ids.join('\n'), { keyField: 'id' })
    await withStore(directory, false, async (store) => {
      let isDone = false
      const writing = (async () => {
        for (let id = 3000; !isDone; id++)
          await store.append('a', itemRun([`{"id":${id},"f${id}":1}`], { keyField: 'id' }))
      })()
      for (let round = 0; round < 3; round++) {
        const stdout = await succeeds(directory, 'export a --format csv')
        const [header = '', ...rows] = stdout.trimEnd().split('\n')
        assert.equal(header.split(',').length - 1, rows.length - 3000)
      }
      isDone = true
      await writing
    })
  })

  it('is an error where nothing tells it', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'a', '{}')
    const message = /^reams: The name of o\S* does not show its format: .* add --format ndjson, json, csv or tsv\.\n$/
    for (const command of ['export a', 'pull http://127.0.0.1:1/a'])
      for (const name of ['o.xlsx', 'o', 'o.gz']) await refused(directory, `${command} -o ${name}`, 2, message)
    assert.equal((await run(directory, 'export a -o o --format ndjson')).status, 0)
    assert.equal(readFileSync(join(directory, 'o'), 'utf8'), '{}\n')
  })
})
