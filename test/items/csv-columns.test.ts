import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readColumnTypes } from '../../src/items/read-items.ts'
import { readAll, refusal } from './read-all.ts'

/** The values of the only column, with their types found. */
async function typed(...values: readonly string[]): Promise<string> {
  const text = `"a"\n${values.map((value) => `"${value}"\n`).join('')}`
  const source = async function* () {
    yield Buffer.from(text)
  }
  const types = await readColumnTypes(source(), { format: 'csv' })
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

it('keeps a key text where some of its numbers are not whole', async () => {
  const source = async function* () {
    yield Buffer.from('id,n\n1,1.0\n2.0,2\n')
  }
  const types = await readColumnTypes(source(), { format: 'csv', keyField: 'id' })
  assert.deepEqual([types.named('text'), types.named('number')], [['id'], ['n']])
})

it('keeps each part of a key a whole number or text, also an empty one', async () => {
  const text = 'a,b,c,"d,e"\n1,1.0,1.0,1\n,2,2,2\n'
  const source = async function* () {
    yield Buffer.from(text)
  }
  const keyField = 'a,b,d\\,e'
  const types = await readColumnTypes(source(), { format: 'csv', keyField })
  assert.deepEqual(
    [types.named('text'), types.named('number')],
    [
      ['a', 'b'],
      ['c', 'd,e'],
    ],
  )
  const { items, keys } = await readAll(text, { format: 'csv', types, keyField })
  assert.deepEqual(items, ['{"a":"1","b":"1.0","c":1.0,"d,e":1}', '{"a":"","b":"2","c":2,"d,e":2}'])
  assert.deepEqual(keys, ['1,1.0,1', ',2,2'])
})

it('refuses a value that was not there when types were looked for, and never takes it for JSON', async () => {
  const source = async function* () {
    yield Buffer.from('a\n1\n')
  }
  const types = await readColumnTypes(source(), { format: 'csv' })
  for (const value of ['1,""b"":true', '[1]', 'x', 'true']) {
    const [line, reason] = await refusal(`a\n"${value}"\n`, { format: 'csv', types })
    assert.equal(line, 2)
    assert.match(reason, /was not there when types were looked for$/)
  }
})
