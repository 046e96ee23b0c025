import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CsvColumns } from '../../src/items/item-text.ts'
import { latin1, readAll, refusal } from './read-all.ts'

const csv = { format: 'csv' } as const

describe('the delimiter of CSV', () => {
  it('is told from the header: a comma, a semicolon, a tab or a pipe, whatever stands in quotes or in rows', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const rows = ['\ufeff', '"a,;\t|,;\t|\n,;|"#b#c', '1#"2,;"#3', '4#5#6'].join('\n').replaceAll('#', delimiter)
      const { items } = await readAll(rows, csv, [1])
      assert.deepEqual(
        items.map((item) => Object.values(JSON.parse(item))),
        [
          ['1', '2,;', '3'],
          ['4', '5', '6'],
        ],
      )
    }
  })

  it('is the more frequent of two, and has to be given where that does not decide', async () => {
    assert.deepEqual((await readAll('id;price, gross;x\n1;2,5;3', csv)).items, [
      '{"id":"1","price, gross":"2,5","x":"3"}',
    ])
    const [line, reason] = await refusal('\r\n\nprice, gross;id\n1;2', csv)
    assert.deepEqual(
      [line, reason],
      [3, 'commas or semicolons could separate the fields of the header; say which, with --delimiter'],
    )
    assert.deepEqual((await readAll('price, gross;id\n1;2', { ...csv, delimiter: ';' })).items, [
      '{"price, gross":"1","id":"2"}',
    ])
  })

  it('can be given, and is a tab for TSV, unless the header has none but others', async () => {
    assert.deepEqual((await readAll('a^b\n1^2', { ...csv, delimiter: '^' })).items, ['{"a":"1","b":"2"}'])
    assert.deepEqual((await readAll('a,x\tb\n1\t2', { format: 'tsv' })).items, ['{"a,x":"1","b":"2"}'])
    assert.deepEqual((await readAll('"a;b"\n1', { ...csv, delimiter: ',' })).items, ['{"a;b":"1"}'])
    const reason =
      'the header has no tabs to separate its fields, but semicolons; give the right --delimiter, or put it in quotes if it is one field'
    assert.equal((await refusal('a;b\n1;2', { format: 'tsv' }))[1], reason)
  })

  it('is not looked for in a header that is not UTF-8', async () => {
    assert.match((await refusal(latin1('\na;b,Gr\xf6\xdfe;c\n'), csv))[1], /^this is not valid UTF-8/)
  })

  it('is told right from what we write ourselves', async () => {
    const item = { 'a;b;c': '1;2', 'd|e': 'x\ty', f: 'z' }
    for (const format of ['csv', 'tsv'] as const) {
      const columns = new CsvColumns(Object.keys(item), format === 'tsv' ? '\t' : ',')
      const text = columns.header + columns.row(Buffer.from(JSON.stringify(item)))
      assert.deepEqual((await readAll(text, { format })).items, [JSON.stringify(item)])
    }
  })
})
