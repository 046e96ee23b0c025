import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { InputError } from '../../src/items/input-error.ts'
import { readItems } from '../../src/items/read-items.ts'
import { character, latin1, readAll, refusal } from './read-all.ts'

const ndjson = { format: 'ndjson' } as const
const RULE = 'every line must be one complete JSON object'

describe('reading NDJSON', () => {
  it('keeps every line byte for byte, without its end', async () => {
    const items = [
      '{"n":[12345678901234567890,1.10,1E5,-0],"a":1,"a":2}',
      '{"__proto__":{},"e":"\\u00e9\\/","u":"é😀\u2028"}',
      '  { "a" : 1 }\t ',
      '{}',
    ]
    for (const end of ['\n', '\r\n']) {
      const whole = await readAll(items.join(end) + end, ndjson)
      assert.deepEqual(whole, { items, lines: [1, 2, 3, 4], keys: [], counts: [4] })
      assert.deepEqual(await readAll(items.join(end), ndjson), whole)
    }
  })

  it('skips blank lines and a byte-order mark, and counts lines right', async () => {
    const reading = await readAll('\ufeff{"a":1}\n\n \t\r\n{"b":2}\r\n\n{"c":3}\n\n', ndjson)
    assert.deepEqual(reading.items, ['{"a":1}', '{"b":2}', '{"c":3}'])
    assert.deepEqual(reading.lines, [1, 4, 6])
  })

  it('gives no items for an empty input', async () => {
    for (const input of ['', '\n', ' \r\n\n', '\ufeff'])
      assert.deepEqual(await readAll(input, ndjson), { items: [], lines: [], keys: [], counts: [] })
  })

  it('makes batches of 500, of which only the last is shorter', async () => {
    const lines = [...Array(1234).keys()].map((id) => `{"id":${id}}`)
    const reading = await readAll(lines.join('\n'), { ...ndjson, keyField: 'id' }, [1000])
    assert.deepEqual(reading.counts, [500, 500, 234])
    assert.deepEqual(reading.items, lines)
    assert.deepEqual(reading.keys, [...Array(1234).keys()].map(String))
    assert.deepEqual((await readAll(`${lines.slice(0, 1000).join('\n')}\n`, ndjson)).counts, [500, 500])
  })

  it('turns a lone carriage return between tokens into a blank', async () => {
    assert.deepEqual((await readAll('{"a":\r1}\r\r\n', ndjson)).items, ['{"a": 1} '])
  })

  it('refuses a line that is not one object, and says what to do', async () => {
    const first = '{"a":1}\n'
    for (const [line, reason] of [
      ['[1]', 'it is an array, not an object'],
      ['"x"', 'it is a string, not an object'],
      ['null', 'it is null, not an object'],
      ['{"a":1', 'it is truncated: a closing } is missing'],
      ['{"a":1}{"b":2}', 'something follows the object'],
      ['{"a":1} x', 'something follows the object'],
      ['{"a":x}', 'unexpected character `x` at column 6'],
      ['{"a":"', 'it is truncated: a closing " is missing'],
    ] as const) {
      const expected = [2, `${reason}; ${RULE}`, line]
      assert.deepEqual(await refusal(first + line, ndjson), expected)
      assert.deepEqual(await refusal(`${first}${line}\r\n{"c":3}\n`, ndjson), expected)
    }
  })

  it('points to the right format when the first line is not NDJSON at all', async () => {
    const array = 'it is an array, not an object; for a file that is one JSON array use --format json'
    assert.deepEqual(await refusal('[\n  {"a":1}\n]\n', ndjson), [1, array, '['])
    assert.deepEqual(await refusal('\n[{"a":1}]', ndjson), [2, array, '[{"a":1}]'])
    const pretty = `it is truncated: a closing } is missing; ${RULE}; for JSON over several lines use --format json`
    assert.deepEqual(await refusal('{\n  "a":1\n}\n', ndjson), [1, pretty, '{'])
  })

  it('names the line that is not valid UTF-8', async () => {
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    assert.deepEqual(await refusal(latin1('{"a":1}\n{"b":"caf\xe9"}\n[1]\n'), ndjson), [2, reason, '{"b":"caf\\xe9'])
    // Cut in the middle of a character; a surrogate half; a byte that never occurs; an overlong form.
    for (const bytes of ['\xf0\x9f\x98', '\xed\xa0\x80', '\xff', '\xc0\x80'])
      assert.equal((await refusal(latin1(`\n{"a":"${bytes}`), ndjson))[1], reason)
  })

  it('reports what is wrong first, when several lines are', async () => {
    assert.equal((await refusal(latin1('{}\n[1]\n{"b":"caf\xe9"}\n'), ndjson))[0], 2)
  })

  it('shows a long line around the place where it is wrong, control characters made visible', async () => {
    const [, , text] = await refusal(`{"a":"${'é'.repeat(5000)}\u001b[31m"}`, ndjson)
    assert.match(text, /^…é+\\u001b\[31m"\}$/)
    assert.ok(text.length < 110)
  })

  it('refuses a key that cannot be one', async () => {
    const options = { ...ndjson, keyField: 'id' }
    assert.deepEqual(await refusal('{"id":1}\n{"x":1}\n', options), [2, 'the key field "id" is missing', '{"x":1}'])
  })

  it('refuses an item above the limit, blanks around it included', async () => {
    const options = { ...ndjson, itemBytes: 9 }
    assert.deepEqual((await readAll('{"a":12}\n{"a":123}\r\n', options, [1])).items, ['{"a":12}', '{"a":123}'])
    for (const line of ['{"a":1234}', ' {"a":123}', '{"a":123} ', ' '.repeat(10)]) {
      const [at, reason] = await refusal(`{}\n${line}\n`, options)
      assert.equal(at, 2)
      assert.match(reason, /^the item has 10 bytes, the limit is 9; make it smaller/)
    }
  })

  it('refuses a line without an end before it is read whole', async () => {
    let chunks = 0
    let isClosed = false
    const endless = async function* (): AsyncIterable<Uint8Array> {
      try {
        for (; chunks < 1000; chunks++) yield new Uint8Array(65_536).fill(0x20)
      } finally {
        isClosed = true
      }
    }
    const read = async (): Promise<void> => {
      for await (const _ of readItems(endless(), ndjson)) assert.fail('an item was read')
    }
    await assert.rejects(read, (error) => {
      assert.ok(error instanceof InputError)
      assert.match(error.reason, /^the item has more than 262,144 bytes, the limit is 262,144;/)
      return error.line === 1
    })
    assert.ok(chunks < 10)
    assert.ok(isClosed)
  })

  it('reads the same wherever the chunks are cut', async () => {
    const line = fc.oneof(
      fc
        .dictionary(fc.string({ unit: character }), fc.jsonValue(), { maxKeys: 3 })
        .map((value) => JSON.stringify(value)),
      fc.constantFrom('', ' ', '{"a":1.10}', ' {"é":"😀"} ', '{"a":\r1}', '\t{}'),
      fc.constantFrom('[1]', '{"a":1', '{"a":"x\u0001"}', '{} {}'),
    )
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 8 })
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('', '\ufeff'), fc.boolean(), sizes, async (all, mark, isCut, chunks) => {
        const text = mark + all.map(([content, end]) => content + end).join('')
        const input = isCut ? text.trimEnd() : text
        assert.deepEqual(await readAll(input, ndjson, chunks), await readAll(input, ndjson))
      }),
      { numRuns: 200 },
    )
  })
})
