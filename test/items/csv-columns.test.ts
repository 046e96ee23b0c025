import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Conversions } from '../../src/items/csv-columns.ts'
import { type ReadOptions, readColumnTypes } from '../../src/items/read-items.ts'
import { chunked, readAll, refusal } from './read-all.ts'

/** The values of the only column, with their types found. */
async function typed(...values: readonly string[]): Promise<string> {
  return converted(values, {})
}

function typesOf(text: string, options: Partial<ReadOptions> & { conversions?: Conversions } = {}) {
  return readColumnTypes(chunked(Buffer.from(text)), { format: 'csv', ...options })
}

async function converted(values: readonly string[], conversions: Conversions): Promise<string> {
  const text = `"a"\n${values.map((value) => `"${value}"\n`).join('')}`
  const types = await typesOf(text, { conversions })
  const { items } = await readAll(text, { format: 'csv', types })
  return items.map((item) => item.slice('{"a":'.length, -1)).join(' ')
}

it('makes numbers, booleans and nulls of a column in which every value is one, and strings of all others', async () => {
  const cases: [string[], string][] = [
    [
      ['1', '-0.50', '1e5', '1.10', '9007199254740991', '123456789012345e3'],
      '1 -0.50 1e5 1.10 9007199254740991 123456789012345e3',
    ],
    [['1', '', 'NULL', 'null'], '1 null null null'],
    [['true', 'FALSE', 'True', ''], 'true false true null'],
    [['', ''], 'null null'],
    [['1', 'x', ''], '"1" "x" ""'],
    [['1', 'true'], '"1" "true"'],
    [['x', ''], '"x" ""'],
  ]
  for (const [values, expected] of cases) assert.equal(await typed(...values), expected)
  // As other languages write doubles.
  assert.equal(await typed('-65.81443605976779', '0.1', '5e-324'), '-65.81443605976779 0.1 5e-324')
})

it('leaves what would not come back as it was written: leading zeros, many digits, other spellings', async () => {
  const values = ['01', '+1', '1.', '.5', ' 1', '1,5', '0x10', 'NaN', '1e400', '1e-400', '9007199254740993']
  for (const value of [...values, '1.0000000000000001', '12345678901234567890', 'yes', 'tRUE'])
    assert.equal(await typed('1', value), `"1" ${JSON.stringify(value)}`)
})

it('keeps each part of a key a whole number or text, also an empty one', async () => {
  assert.deepEqual((await typesOf('id,n\n1,1.0\n2.0,2\n', { keyField: 'id' })).named('text'), ['id'])
  const text = 'a,b,c,"d,e"\n1,1.0,1.0,1\n,2,2,2\n'
  const keyField = 'a,b,d\\,e'
  const types = await typesOf(text, { keyField })
  assert.deepEqual(types.named('text'), ['a', 'b'])
  assert.deepEqual(types.named('number'), ['c', 'd,e'])
  const { items, keys } = await readAll(text, { format: 'csv', types, keyField })
  assert.deepEqual(items, ['{"a":"1","b":"1.0","c":1.0,"d,e":1}', '{"a":"","b":"2","c":2,"d,e":2}'])
  assert.deepEqual(keys, ['1,1.0,1', ',2,2'])
})

it('refuses a value that was not there when types were looked for, and never takes it for JSON', async () => {
  const types = await typesOf('a\n1\n')
  for (const value of ['1,""b"":true', '[1]', 'x', 'true']) {
    const [line, reason] = await refusal(`a\n"${value}"\n`, { format: 'csv', types })
    assert.equal(line, 2)
    assert.match(reason, /was not there when types were looked for$/)
  }
})

describe('decimal commas', () => {
  const comma = { decimal: 'comma' } as const

  it('become points, and all digits stay, where every value of a column is such a number or empty', async () => {
    const cases: [string[], string][] = [
      [['1,50', '-0,5', '12', '', '1,5E+10'], '1.50 -0.5 12 null 1.5E+10'],
      [['1.234,50', '12', '-1.234.567,0', '999,10'], '1234.50 12 -1234567.0 999.10'],
      [['1', '2'], '1 2'],
    ]
    for (const [values, expected] of cases) {
      assert.equal(await converted(values, comma), expected)
      const texts = expected.split(' ').map((text) => JSON.stringify(text === 'null' ? '' : text))
      assert.equal(await converted(values, { ...comma, isTyped: false }), texts.join(' '))
    }
  })

  it('stay text where one value is no such number, or points could mean something else', async () => {
    const columns = [
      ['1,50', 'x'],
      ['1,50', '01,5'],
      ['1,50', '1,2,3'],
      ['1,50', '1.5'],
      ['1.234', '5.678'],
      ['1.234,5', '1234,5'],
      ['1.23,5', '1,5'],
      ['1,5', ',5'],
    ]
    for (const values of columns)
      for (const isTyped of [true, false])
        assert.equal(
          await converted(values, { ...comma, isTyped }),
          values.map((value) => JSON.stringify(value)).join(' '),
        )
    assert.equal(await converted(['1,0000000000000000001'], comma), '"1,0000000000000000001"')
  })

  it('are text without the option', async () => {
    assert.equal(await typed('1,50', '2,5'), '"1,50" "2,5"')
  })
})

describe('dates as day, month and year', () => {
  const dates = { dates: 'dmy' } as const

  it('become ISO dates, and stay text, where every value of a column is one or empty', async () => {
    for (const isTyped of [true, false])
      assert.equal(
        await converted(['31.12.2025', '1.2.2025', '', '29.02.2024', '05/06/1999'], { ...dates, isTyped }),
        '"2025-12-31" "2025-02-01" "" "2024-02-29" "1999-06-05"',
      )
  })

  it('stay as they are where one value is none', async () => {
    for (const value of '31.02.2025 29.02.2025 12.31.2025 0.1.2025 1.1.25 2025-12-31 1.2-2025 x 7'.split(' '))
      assert.equal(await converted(['31.12.2025', value], dates), `"31.12.2025" ${JSON.stringify(value)}`)
    assert.equal(await typed('31.12.2025'), '"31.12.2025"')
  })
})

it('a date in a key is converted, a number with a comma is not', async () => {
  const text = 'day;n;x\n31.12.2025;1,5;1,5\n'
  const conversions = { decimal: 'comma', dates: 'dmy' } as const
  const types = await typesOf(text, { keyField: 'day,n', conversions })
  assert.deepEqual(types.converted, ['day', 'x'])
  const { items, keys } = await readAll(text, { format: 'csv', types, keyField: 'day,n' })
  assert.deepEqual([items, keys], [['{"day":"2025-12-31","n":"1,5","x":1.5}'], ['2025-12-31,1\\,5']])
})

it('a value that came later is refused in a converted column too', async () => {
  const conversions = { isTyped: false, decimal: 'comma', dates: 'dmy' } as const
  const types = await typesOf('a;b\n1,5;31.12.2025\n', { conversions })
  for (const row of ['x;31.12.2025', '1,5;31.02.2025'])
    assert.match(
      (await refusal(`a;b\n${row}\n`, { format: 'csv', types }))[1],
      /was not there when types were looked for$/,
    )
})
