import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { character, latin1, readAll, refusal } from './read-all.ts'

const csv = { format: 'csv' } as const

describe('reading CSV', () => {
  it('makes an object of strings from every row, fields in the order of the header', async () => {
    const reading = await readAll('b,a,__proto__\n1,,x\n01.10,"q ""quoted"", é",{}\n', csv)
    assert.deepEqual(reading, {
      items: ['{"b":"1","a":"","__proto__":"x"}', '{"b":"01.10","a":"q \\"quoted\\", é","__proto__":"{}"}'],
      lines: [2, 3],
      keys: [],
      counts: [2],
    })
  })

  it('counts lines right with line breaks in quotes, blank lines and every kind of line end', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const rows = ['\ufeffa,b', '', `"1${end}${end}2",3`, '', '  ', '4,5', '6,7']
      const reading = await readAll(rows.join(end), csv, [1])
      assert.deepEqual(reading.lines, [3, 8, 9])
      assert.deepEqual(reading.items[0], `{"a":${JSON.stringify(`1${end}${end}2`)},"b":"3"}`)
    }
  })

  it('takes mixed line ends', async () => {
    const reading = await readAll('a\r\n1\n2\r\n3', csv)
    assert.deepEqual(reading.items, ['{"a":"1"}', '{"a":"2"}', '{"a":"3"}'])
  })

  it('tells an empty value from a blank line', async () => {
    assert.deepEqual((await readAll('a\n\n""\n\n', csv)).items, ['{"a":""}'])
  })

  it('gives no items for a header alone and for an empty file', async () => {
    for (const input of ['', '\n\r\n', '\ufeff', 'a,b', 'a,b\n'])
      assert.deepEqual(await readAll(input, csv), { items: [], lines: [], keys: [], counts: [] })
  })

  it('makes batches of 500 with their keys', async () => {
    const ids = [...Array(1001).keys()].map(String)
    const reading = await readAll(`x,id\n${ids.map((id) => `a,${id}\n`).join('')}`, { ...csv, keyField: 'id' }, [1000])
    assert.deepEqual(reading.counts, [500, 500, 1])
    assert.deepEqual(reading.keys, ids)
  })

  it('refuses rows and headers that do not fit, and says where', async () => {
    const cases: [string, number, string, string][] = [
      ['a,b\n1,2\n\n1,2,3\n4,5', 4, 'the row has 3 fields, the header has 2', '1,2,3'],
      ['a,b\r\n1,2\r\n1', 3, 'the row has 1 field, the header has 2', '1'],
      ['a,,c\n1,2,3\n', 1, 'column 2 of the header is empty; give it a name, or remove it', 'a,,c'],
      ['\na,b, \n', 2, 'column 3 of the header is empty; give it a name, or remove it', 'a,b, '],
      ['\na,b,a\n', 2, 'the header names the field "a" twice', 'a,b,a'],
      ['a\n1\n"x\ny', 3, 'a quote in the row that begins here is never closed', '"x'],
      ['a\n"x"y\n', 2, 'something follows the closing quote of a field; double a quote inside a quoted field', '"x"y'],
      [
        'a\nx"y\n',
        2,
        'a quote is in a field that does not begin with one; put the field in quotes and double the quote',
        'x"y',
      ],
    ]
    for (const [input, ...expected] of cases) assert.deepEqual(await refusal(input, csv), expected, input)
  })

  it('refuses a key that is empty or no column', async () => {
    const options = { ...csv, keyField: 'id' }
    assert.deepEqual(await refusal('id,x\n1,2\n,3\n', options), [3, 'the key field "id" is empty', ',3'])
    assert.deepEqual(await refusal('x\n1\n', options), [2, 'the key field "id" is missing', '1'])
  })

  it('names the line that is not valid UTF-8', async () => {
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    assert.deepEqual(await refusal(latin1('a,b\n1,2\n3,caf\xe9\n'), csv), [3, reason, '3,caf\\xe9'])
    assert.deepEqual(await refusal(latin1('\n\na,caf\xe9\n1,2\n'), csv), [3, reason, 'a,caf\\xe9'])
    assert.deepEqual(await refusal(latin1('x\ncaf\xe9\na\n1\n'), { ...csv, skip: 2 }), [2, reason, 'caf\\xe9'])
  })

  it('refuses an item above the limit, and a row that never ends', async () => {
    const options = { ...csv, itemBytes: 20 }
    assert.equal((await readAll('a\n123456789012\n', options)).items.length, 1)
    assert.match((await refusal('a\n1234567890123\n', options))[1], /^the item has 21 bytes, the limit is 20;/)
    const [line, reason] = await refusal(`a\n1\n"${'x\n'.repeat(100)}`, options)
    assert.equal(line, 3)
    assert.match(reason, /^the item has more than 20 bytes.* or is a quote in this row never closed\?$/)
    assert.match((await refusal(`a\n${','.repeat(100)}`, options))[1], /more than 20 bytes/)
  })

  it('gives back what was written, wherever the chunks are cut', async () => {
    const field = fc.oneof(
      fc.string({ unit: character, maxLength: 8 }),
      fc.constantFrom('', 'é😀', 'a"b', '\r\n', '\n', '\r', ',', '__proto__', '"'),
    )
    const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`
    const name = field.filter((text) => text.trim() !== '')
    const table = fc
      .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', '\r\n'))
      .chain(([names, end]) =>
        fc.record({
          names: fc.constant(names),
          end: fc.constant(end),
          rows: fc.array(fc.array(field, { minLength: names.length, maxLength: names.length }), { maxLength: 5 }),
        }),
      )
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(table, sizes, async ({ names, end, rows }, chunks) => {
        const text = [names, ...rows].map((row) => row.map(quoted).join(',') + end).join('')
        const expected = rows.map(
          (row) => `{${row.map((value, i) => `${JSON.stringify(names[i])}:${JSON.stringify(value)}`).join(',')}}`,
        )
        // Without it, a NUL character in every second place would be taken for UTF-16.
        const options = { ...csv, encoding: 'utf-8' }
        const reading = await readAll(text, options, chunks)
        assert.equal(reading.error, undefined)
        assert.deepEqual(reading.items, expected)
        assert.deepEqual(reading, await readAll(text, options))
      }),
      { numRuns: 200 },
    )
  })
})
