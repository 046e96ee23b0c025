import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CsvColumns } from '../../src/items/item-text.ts'

const encode = (text: string) => new TextEncoder().encode(text)

describe('the columns of CSV', () => {
  it('are the fields in the order in which items first have them', () => {
    const columns = new CsvColumns()
    for (const item of ['{"b":1}', '{"a":1,"b":2}', '7']) columns.addFields(encode(item))
    assert.equal(columns.header, 'b,a\n')
    assert.equal(columns.row(encode('{"a":1,"b":2}')), '2,1\n')
    assert.equal(columns.row(encode('{"a":1}')), ',1\n')
  })

  for (const [json, text] of [
    ['null', '""'],
    ['""', '""'],
    ['"plain"', 'plain'],
    ['"a\\"b"', '"a""b"'],
    ['"a,b"', '"a,b"'],
    ['"a;b"', '"a;b"'],
    ['" a"', '" a"'],
    ['"a "', '"a "'],
    ['"a\\nb"', '"a\nb"'],
    ['"a\\rb"', '"a\rb"'],
    ['1.50', '1.50'],
    ['{ "x" : [ 1, "a \\" b" ] }', '"{""x"":[1,""a \\"" b""]}"'],
  ] as const)
    it(`hold ${json} as ${JSON.stringify(text)}`, () => {
      assert.equal(new CsvColumns(['v']).row(encode(`{"v":${json}}`)), `${text}\n`)
    })

  it('can be separated by something else, and tell which fields have no column and which columns no field', () => {
    const columns = new CsvColumns(['a', 'b'], ';')
    const others: string[] = []
    assert.equal(
      columns.row(encode('{"a":1,"c":2}'), (name) => others.push(name)),
      '1;\n',
    )
    assert.deepEqual([others, [...columns.unused]], [['c'], ['b']])
  })
})
