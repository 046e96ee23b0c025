import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ago, brief, indented, itemsOn, outline, visible } from '../../src/explorer/browser/text.ts'

const shown = (json: string, characters?: number): string =>
  indented(json, characters)
    .map(({ text }) => text)
    .join('')

describe('a text on a page', () => {
  it('writes out characters that nobody sees, or that turn text around', () => {
    assert.equal(visible('a\0\u202eb\u200b\ufeff\xad é😀'), 'a\\u0000\\u202eb\\u200b\\ufeff\\u00ad é😀')
    assert.equal(visible('plain ~'), 'plain ~')
  })

  it('is cut after 120 characters, not within one', () => {
    assert.equal(brief('x'.repeat(120)), 'x'.repeat(120))
    assert.equal(brief('x'.repeat(121)), `${'x'.repeat(120)}…`)
    assert.equal(brief(`${'x'.repeat(119)}😀`), `${'x'.repeat(119)}…`)
  })

  it('says which items a page has', () => {
    assert.equal(itemsOn(1, 0), 'no items')
    assert.equal(itemsOn(2, 1_200), 'items 501–1,000')
    assert.equal(itemsOn(3, 1_200), 'items 1,001–1,200')
  })

  it('says how long ago something was', () => {
    const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
    for (const [ms, text] of [
      [-5, '0 s ago'],
      [minute - 1, '59 s ago'],
      [minute, '1 min ago'],
      [hour - second, '59 min ago'],
      [hour, '1 h ago'],
      [2 * day - 1, '47 h ago'],
      [2 * day, '2 days ago'],
      [1_234 * day, '1,234 days ago'],
    ] as const)
      assert.equal(ago(ms), text)
  })
})

describe('JSON on a page', () => {
  it('is indented, with values as they were written', () => {
    assert.equal(
      shown('{"a":1.0,"b":[true,{"c":"x:,{"}],"d":{},"e":[]}'),
      '{\n  "a": 1.0,\n  "b": [\n    true,\n    {\n      "c": "x:,{"\n    }\n  ],\n  "d": {},\n  "e": []\n}',
    )
    assert.equal(shown('"a\u202eb"'), '"a\\u202eb"')
  })

  it('tells the names of fields from other texts', () => {
    const names = indented('{"a":"b","c":["d"]}').filter(({ isName }) => isName)
    assert.deepEqual(
      names.map(({ text }) => text),
      ['"a"', '"c"'],
    )
  })

  it('ends with a note where it is too long', () => {
    const long = `[${'1,'.repeat(9)}1]`
    assert.equal(shown(long, long.length).includes('not shown'), false)
    assert.match(
      shown(long, 6),
      /^\[\n {2}1,\n {2}1,\n {2}1\n… The rest is not shown here; the raw JSON has all of it\.$/,
    )
  })

  it('stops indenting at 40 levels', () => {
    const line = shown(`${'['.repeat(50)}1${']'.repeat(50)}`)
      .split('\n')
      .find((each) => each.endsWith('1'))
    assert.equal(line, `${' '.repeat(80)}1`)
  })
})

describe('a nested value in a line', () => {
  for (const [json, text] of [
    ['[1,2]', '[1, 2]'],
    ['[]', '[]'],
    ['{}', '{}'],
    [`[${'1,'.repeat(10)}12]`, `[${'1, '.repeat(10)}12]`],
    [`[${'1,'.repeat(11)}12]`, '[12 items]'],
    ['[[1],[2]]', '[2 items]'],
    ['["only one",2,3…', '[more than 2 items]'],
    ['{"name":"x","at":{"y":1},"none":{},"list":[1]}', '{name: "x", at: {…}, none: {}, …1}'],
    ['{"a b":1}', '{"a b": 1}'],
    ['{"a":1,"b":2,"c…', '{a: 1, b: 2, …}'],
    [`{"long":"${'x'.repeat(40)}"}`, `{long: "${'x'.repeat(23)}…}`],
  ] as const)
    it(`${json} is ${text}`, () => assert.equal(outline(json), text))
})
