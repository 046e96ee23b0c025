import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventLines } from './items.ts'
import { serve } from './pull-servers.ts'
import { runCli, startServer, workDirectory } from './run-cli.ts'

async function pulledCsv(t: Parameters<typeof startServer>[0], lines: string, ...words: string[]) {
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'events.ndjson'), lines)
  const { url } = await startServer(t, ['events.ndjson'], { in: directory })
  const result = await runCli(['pull', `${url}/events`, '--format', 'csv', ...words], { in: directory })
  return { directory, ...result }
}

describe('reams pull as CSV', () => {
  it('has a column for every field, in the order in which they come first', async (t) => {
    const lines = `${eventLines(1000)}{"late":1,"id":2}\n{"title":"x","other":true}\n`
    const { stdout } = await pulledCsv(t, lines)
    const rows = stdout.split('\n')
    assert.equal(rows.length, 1004)
    assert.equal(rows[0], 'id,title,late,other')
    assert.deepEqual(rows.slice(1000), ['1000,Event 1000,,', '2,,1,', ',x,,true', ''])
  })

  it('keeps numbers as written, nested values as JSON, and quotes as RFC 4180 has it', async (t) => {
    const lines = [
      '{"a":12345678901234567890,"b":1.10,"c":{"d":[1, "x,\\"y\\""]}}',
      '{"a":"comma, quote \\" and\\nline break","b":" blanks ","c":null}',
      '{"a":"","b":false,"c":"\\u00e9\\ud83d\\ude00"}',
      '{"a":1,"a":"the last one","__proto__":1E5}',
    ]
    const { stdout } = await pulledCsv(t, lines.join('\n'))
    assert.equal(
      stdout,
      `a,b,c,__proto__
12345678901234567890,1.10,"{""d"":[1, ""x,\\""y\\""""]}",
"comma, quote "" and
line break"," blanks ",,
"",false,é😀,
the last one,,,1E5
`,
    )
  })

  it('gives the same strings back when it is imported', async (t) => {
    const strings = ['', ' ', 'a,b', '"', '\r\n', '\n', '\r', '\uFEFFmark', "'", '=1+1', 'é', '\u0000', '""', ',']
    const items = strings.flatMap((text) => [{ '': text, 'a "name", quoted': 'x', '\uFEFFz': text }])
    const { directory, stdout } = await pulledCsv(t, items.map((item) => JSON.stringify(item)).join('\n'))
    await importAndCompare(directory, stdout, items)
  })

  it('of one column has a row for every item, also where it is empty', async (t) => {
    const items = [{ a: '' }, { a: 'x' }, { a: null }, {}, { a: ' ' }]
    const lines = items.map((item) => JSON.stringify(item)).join('\n')
    const { directory, stdout } = await pulledCsv(t, lines)
    await importAndCompare(directory, stdout, [{ a: '' }, { a: 'x' }, { a: '' }, { a: '' }, { a: ' ' }])
  })

  it('has the columns that were asked for, and says which of them no item has', async (t) => {
    const { stdout, stderr } = await pulledCsv(t, eventLines(2), '--columns', 'title,price', '--columns', 'id')
    assert.equal(stdout, 'title,price,id\nEvent 1,,1\nEvent 2,,2\n')
    assert.match(stderr, / No item has a field "price"\.\n$/)
  })

  it('leaves nothing behind when it goes to standard output', async (t) => {
    const { pull, names } = await serve(t)
    const { stdout, status } = await pull('--format', 'csv')
    assert.equal(status, 0)
    assert.equal(stdout.split('\n').length, 1003)
    assert.deepEqual(names(), [])
  })

  it('fails on an item that has no fields to speak of', async (t) => {
    const { pull, names } = await serve(t, { items: [{ a: 1 }, [2, 3]] })
    for (const words of [
      ['-o', 'e.csv'],
      ['--format', 'csv'],
      ['-o', 'e.csv', '--columns', 'a'],
    ]) {
      const { status, stderr } = await pull(...words)
      assert.match(
        stderr,
        /^reams: Item 2 is not an object, so it has no fields for CSV: \[2,3\]\. Take --format ndjson/,
      )
      assert.equal(status, 1)
    }
    assert.deepEqual(names(), [])
  })

  it('fails where no item has any field', async (t) => {
    const { pull, names } = await serve(t, { items: [{}, {}] })
    const { status, stderr } = await pull('-o', 'e.csv')
    assert.match(stderr, /^reams: No item has any field, so there is nothing for CSV to hold\./)
    assert.equal(status, 1)
    assert.deepEqual(names(), [])
  })

  it('fails where the names of fields have no end', async (t) => {
    const items = Array.from({ length: 600 }, (_, item) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, field) => [`f${item}-${field}`, 1])),
    )
    const { pull } = await serve(t, { items })
    const { status, stderr } = await pull('-o', 'e.csv')
    assert.match(stderr, /have more than 10,000 different fields\. Choose those that become columns: --columns a,b,c/)
    assert.equal(status, 1)
    assert.equal((await pull('-o', 'e.csv', '--columns', 'f1-1')).status, 0)
  })
})

async function importAndCompare(directory: string, csv: string, items: readonly unknown[]): Promise<void> {
  writeFileSync(join(directory, 'pulled.csv'), csv)
  const { status, stderr } = await runCli(['import', 'again', 'pulled.csv'], { in: directory })
  assert.equal(status, 0, stderr)
  const { stdout } = await runCli(['export', 'again'], { in: directory })
  const exported = stdout.trimEnd().split('\n')
  assert.deepEqual(
    exported.map((line) => JSON.parse(line)),
    items,
  )
}
