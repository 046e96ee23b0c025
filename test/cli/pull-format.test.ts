import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { createFormat, type FormatOptions } from '../../src/cli/files/item-format.ts'
import { readItems } from '../../src/items/read-items.ts'

/** What stands in a file after pages of these items. */
function written(options: Partial<FormatOptions>, ...pages: (readonly string[])[]): string {
  const format = createFormat({ format: 'csv', columns: undefined, ...options })
  let items = 0
  let text = ''
  for (const page of pages) {
    text += Buffer.from(format.render(Buffer.from(page.map((item) => `${item}\n`).join('')), items))
    items += page.length
  }
  return text + Buffer.from(format.end(items))
}

describe('items that are pulled', () => {
  const [first, second, third] = ['{"id":1,"t":"a"}', '{"id":2,"t":"b"}', '{"id":3.10,"t":null}']
  const pages = [[first, second], [third]]
  const none: string[][] = [[]]
  const cases: [what: string, options: Partial<FormatOptions>, pages: string[][], text: string][] = [
    ['as NDJSON', { format: 'ndjson' }, pages, `${first}\n${second}\n${third}\n`],
    ['as one JSON array', { format: 'json' }, pages, `[\n${first},\n${second},\n${third}\n]\n`],
    ['as CSV', {}, pages, 'id,t\n1,a\n2,b\n3.10,\n'],
    ['as CSV with chosen columns', { columns: ['t', 'x'] }, pages, 't,x\na,\nb,\n,\n'],
    ['none, as NDJSON', { format: 'ndjson' }, none, ''],
    ['none, as JSON', { format: 'json' }, none, '[]\n'],
    ['none, as CSV', {}, none, ''],
    ['none, as CSV with chosen columns', { columns: ['id', 't'] }, none, 'id,t\n'],
  ]
  for (const [what, options, given, text] of cases)
    it(`are written ${what}`, () => assert.equal(written(options, ...given), text))
})

describe('CSV', () => {
  it('keeps numbers as written, nested values as compact JSON, and quotes as RFC 4180 has it', () =>
    assert.equal(
      written({}, [
        '{"a":12345678901234567890,"b":1.10,"c":{"d":[1, "x,\\"y\\""]}}',
        '{"a":"comma, quote \\" and\\nline break","b":" blanks ","c":null}',
        '{"a":"","b":false,"c":"\\u00e9\\ud83d\\ude00"}',
        '{"a":1,"a":"the last one","__proto__":1E5}',
      ]),
      `a,b,c,__proto__
12345678901234567890,1.10,"{""d"":[1,""x,\\""y\\""""]}",
"comma, quote "" and
line break"," blanks ",,
"",false,é😀,
the last one,,,1E5
`,
    ))

  it('takes the blanks out of nested values, and changes no number or string in them', () =>
    assert.equal(
      written({ format: 'tsv' }, [
        '{"a": {"n" : [ 1.50,\t-1E5 , 0.10 ],  "s": "  a , \\u00e9 \\" [ 1 ] \\\\" , "x  y" : { } } }',
      ]),
      'a\n"{""n"":[1.50,-1E5,0.10],""s"":""  a , \\u00e9 \\"" [ 1 ] \\\\"",""x  y"":{}}"\n',
    ))

  it('has a column for every field of the first page, in the order in which they come first', () =>
    assert.equal(
      written({}, ['{"id":1}', '{"late":1,"id":2}', '{"title":"x","other":true}']),
      'id,late,title,other\n1,,,\n2,1,,\n,,x,true\n',
    ))

  it('has a row for every item, also where its only column is empty', () =>
    assert.equal(written({}, ['{"a":""}', '{"a":null}', '{}', '{"a":" "}']), 'a\n""\n""\n""\n" "\n'))

  it('gives the same strings back when it is read', async () => {
    const strings = ['', ' ', 'a,b', '"', '\r\n', '\n', '\r', '\uFEFFmark', "'", '=1+1', 'é', '\u0000', '""', ',']
    const items = strings.map((text) => ({ a: text, 'a "name", quoted': 'x', '\uFEFFz': text }))
    const text = written(
      {},
      items.map((item) => JSON.stringify(item)),
    )
    const read: unknown[] = []
    for await (const { run } of readItems(Readable.from([Buffer.from(text)]), { format: 'csv', itemBytes: 1000 }))
      read.push(...JSON.parse(`[${Buffer.from(run.text)}]`))
    assert.deepEqual(read, items)
  })

  it('knows which of the chosen columns no item has', () => {
    const format = createFormat({ format: 'csv', columns: ['title', 'price'] })
    format.render(Buffer.from('{"id":1,"title":"x"}\n'), 0)
    assert.deepEqual(format.unusedColumns, ['price'])
  })

  it('goes on with the columns that it began with, and begins again with new ones', () => {
    const format = createFormat({ format: 'csv', columns: undefined }, ['b', 'a'])
    assert.equal(String(format.render(Buffer.from('{"a":1}\n'), 500)), ',1\n')
    assert.equal(String(format.render(Buffer.from('{"c":1}\n'), 0)), 'c\n1\n')
    assert.deepEqual(format.columns, ['c'])
  })

  const many = Array.from({ length: 501 }, (_, item) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, field) => [`f${item}-${field}`, 1]))),
  )
  const flaws: [what: string, pages: string[][], message: RegExp][] = [
    [
      'an item that is not an object',
      [['{"a":1}'], ['[2,3]']],
      /^Item 2 is not an object, so it has no fields for CSV: \[2,3\]\. Use --format ndjson/,
    ],
    ['items without any field', [['{}', '{}']], /^No item has any field, so there are no columns for CSV\./],
    [
      'a field that comes late, with the columns to paste',
      [['{"a":1}', '{"b":1}'], ['{"a":1,"late":2}']],
      /^Item 3 has a field "late", which no item of the first page has\. Name the columns.*: --columns a,b,late$/,
    ],
    [
      'a late field, with columns that a shell takes as they are',
      [['{"it\'s $HOME":1}'], ['{"é":2}']],
      /: --columns 'it'\\''s \$HOME,é'$/,
    ],
    [
      'a late field, and says which names --columns cannot take',
      [['{"a,b":1,"c":1}'], ['{"d":2}']],
      /: --columns c,d\. A name with a comma, or with a blank at an end, cannot be given there: .*--format ndjson\.$/,
    ],
    ['fields without end', [many], /more than 10,000 different fields\. Choose those that become columns: --columns/],
  ]
  for (const [what, pages, message] of flaws)
    it(`fails on ${what}`, () => assert.throws(() => written({}, ...pages), { exitStatus: 1, message }))
})
