import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { readItems } from '../../src/items/read-items.ts'
import { character, latin1, readAll, refusal } from './read-all.ts'

const json = { format: 'json' } as const

describe('reading a JSON array', () => {
  it('keeps every item as it is written; only its line breaks become blanks', async () => {
    const items = ['{"n":[12345678901234567890,1.10,1E5,-0],"a":1,"a":2}', '{"__proto__":{},"e":"\\u00e9]},{"}', '{}']
    assert.deepEqual((await readAll(`[${items.join(',')}]`, json)).items, items)
    const pretty = await readAll('\ufeff[\n  {\n    "a": 1\n  },\r\n\r\n  {"b":2}\n , {"c":3}\n]\n', json)
    assert.deepEqual(pretty.items, ['{     "a": 1   }', '{"b":2}', '{"c":3}'])
    assert.deepEqual(pretty.lines, [2, 6, 7])
  })

  it('gives no items for an empty array and for an empty file', async () => {
    for (const input of ['', ' \n', '\ufeff', '[]', ' [\n] \n'])
      assert.deepEqual(await readAll(input, json, [1]), { items: [], lines: [], keys: [], counts: [] })
  })

  it('makes batches of 500 with their keys, in chunks of any size', async () => {
    const ids = [...Array(1001).keys()]
    const text = JSON.stringify(ids.map((id) => ({ id })))
    for (const sizes of [[3], [100_000]]) {
      const reading = await readAll(text, { ...json, keyField: 'id' }, sizes)
      assert.deepEqual(reading.counts, [500, 500, 1])
      assert.deepEqual(reading.keys, ids.map(String))
    }
  })

  it('refuses what is not one array of objects, and says where', async () => {
    const cases: [string, number, string, string][] = [
      ['\n"x"', 2, 'the file must be a JSON array of objects, or an object with one in it', '"x"'],
      ['[', 1, 'it is truncated: the closing ] of the array is missing', ''],
      ['[\n{"a":1}\n', 3, 'it is truncated: the closing ] of the array is missing', ''],
      ['[{"a":1},', 1, 'it is truncated: the closing ] of the array is missing', ''],
      ['[{"a":1},\n{"a":[1', 2, 'it is truncated: a closing ] is missing', '{"a":[1'],
      ['[{"a":1}\n{"b":2}]', 2, 'a comma or the closing ] of the array is missing before this', '{"b":2}]'],
      ['[{"a":1},\n]', 2, 'an item is missing between the last comma and the closing ]', ']'],
      ['[{"a":1},,{}]', 1, 'an item is missing before this comma', ',{}]'],
      ['[{"a":1}]\n[]', 2, 'something follows the closing ] of the array', '[]'],
      ['[{},\n[1]]', 2, 'it is an array, not an object', '[1]]'],
      ['[{}, null]', 1, 'it is null, not an object', 'null]'],
      ['[{}, -1]', 1, 'it is a number, not an object', '-1]'],
      ['[x]', 1, 'expected an object here', 'x]'],
      ['[{"a":1,\n "b":x}]', 2, 'unexpected character `x` at column 6', ' "b":x}]'],
      ['[{"a":"x\n"}]', 1, 'there is a line break in a string at column 8: is its closing " missing?', '{"a":"x'],
    ]
    for (const [input, ...expected] of cases) assert.deepEqual(await refusal(input, json), expected, input)
  })

  it('names the line that is not valid UTF-8', async () => {
    const reason = 'this is not valid UTF-8; it may be windows-1252: then add --encoding windows-1252'
    const text = '[{"a":1},\n {"b":1,\n"c":"caf\xe9"}]'
    assert.deepEqual(await refusal(latin1(text), json), [3, reason, '"c":"caf\\xe9'])
  })

  it('refuses an item above the limit without reading it whole', async () => {
    const options = { ...json, itemBytes: 10 }
    assert.deepEqual((await readAll('[{"a":1234}]', options, [1])).items, ['{"a":1234}'])
    for (const sizes of [[1], [100]]) {
      const { error } = await readAll('[{},\n{"a":12345}]', options, sizes)
      assert.equal(error?.line, 2)
      assert.match(error?.reason ?? '', /^the item has more than 10 bytes, the limit is 10;/)
    }
  })

  it('refuses a key that cannot be one', async () => {
    const reason = 'the key field "id" is missing'
    assert.deepEqual(await refusal('[{"id":1},\n{"x":1}]', { ...json, keyField: 'id' }), [2, reason, '{"x":1}'])
  })

  it('reads a long item in small chunks', async () => {
    const item = JSON.stringify({ text: 'é'.repeat(20_000) })
    assert.deepEqual((await readAll(`[${item},${item}]`, json, [13])).items, [item, item])
  })

  it('reads the same wherever the chunks are cut', async () => {
    const value = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.dictionary(fc.string({ unit: character, maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), {
          maxKeys: 3,
        }),
      },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    )
    const text = fc
      .tuple(fc.array(value, { maxLength: 6 }), fc.constantFrom(undefined, 1, '\t'), fc.nat(), fc.nat({ max: 3 }))
      .map(([values, space, place, change]) => {
        const whole = JSON.stringify(values, null, space)
        const at = place % whole.length
        const rest = { 0: whole.slice(at), 1: whole.slice(at + 1), 2: `,${whole.slice(at)}`, 3: '' }[change] ?? ''
        return (change === 0 ? whole : whole.slice(0, at) + rest).toWellFormed()
      })
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(text, sizes, async (input, chunks) => {
        // What follows a mistake is shown as far as it has been read.
        const { error, ...reading } = await readAll(input, json)
        const { error: chunkedError, ...chunkedReading } = await readAll(input, json, chunks)
        assert.deepEqual(chunkedReading, reading)
        assert.deepEqual([chunkedError?.line, chunkedError?.reason], [error?.line, error?.reason])
      }),
      { numRuns: 200 },
    )
  })

  it('takes an array exactly if JSON.parse does', async () => {
    const piece = fc.constantFrom('[', ']', ',', '{}', '{"a":1}', ' ', '\n')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        const text = `[${pieces.join('')}`
        let values: unknown
        try {
          values = JSON.parse(text)
        } catch {
          values = undefined
        }
        const isArrayOfObjects = Array.isArray(values) && !values.some((value) => Array.isArray(value))
        const { error, items } = await readAll(text, json)
        assert.equal(error === undefined, isArrayOfObjects)
        if (isArrayOfObjects) assert.deepEqual(JSON.parse(`[${items}]`), values)
      }),
      { numRuns: 300 },
    )
  })
})

/** What is read, and which name is reported. */
async function readObject(input: string | Uint8Array, items?: string, sizes?: readonly number[]) {
  const names: string[] = []
  const reading = await readAll(input, { ...json, items, onItemsFound: (name) => names.push(name) }, sizes)
  return { ...reading, names }
}

describe('reading items inside a JSON object', () => {
  it('takes the first array of objects at the top level, byte for byte, and reports its name', async () => {
    const items = ['{"n":[12345678901234567890,1.10,1E5,-0],"data":[{}]}', '{"e":"\\u00e9]},{"}', '{}']
    const text = `\n{ "x": {"data":[{}], "t":"]}\\""}, "tags":["a"], "m":[[{}]],\n"d\\u0061ta":[ ${items} ],"n":-1.5e3,"z":null }\n`
    for (const [input, sizes] of [
      [text, [1]],
      [`\ufeff${text}`, [7]],
      [gzipSync(text), undefined],
    ] as const) {
      const reading = await readObject(input, undefined, sizes)
      assert.deepEqual([reading.items, reading.names, reading.error], [items, ['data'], undefined])
      assert.deepEqual(reading.lines, [3, 3, 3])
    }
  })

  it('takes the array that a path leads to, also past others and through names with dots', async () => {
    const text = '{"data":[{}],"result":{"rows":[{"a":1}],"x.y":{"z":[{"b":2}]},"rows2":[{}]},"result.n":[{"c":3}]}'
    for (const [path, item] of [
      ['result.rows', '{"a":1}'],
      ['result.x.y.z', '{"b":2}'],
      ['result.n', '{"c":3}'],
      ['result.rows2', '{}'],
    ] as const)
      for (const sizes of [[1], [1000]]) {
        const { items, names, error } = await readObject(text, path, sizes)
        assert.deepEqual([items, names, error], [[item], [], undefined])
      }
  })

  it('gives no items for an empty array', async () => {
    assert.deepEqual((await readObject('{"data":[],"meta":{}}')).names, ['data'])
    assert.deepEqual((await readObject('{"a":{"b":[ ]}}', 'a.b')).items, [])
  })

  it('refuses an object in which two arrays can hold the items, and names both', async () => {
    for (const [text, first, second, flags] of [
      ['{"data":[{}],\n"included":[{}]}', 'data', 'included', '--items data or --items included'],
      ['{"errors":[],\n"my data":[{}]}', 'errors', 'my data', '--items errors or --items "my data"'],
    ] as const) {
      const [line, reason] = await refusal(text, json)
      assert.equal(line, 2)
      assert.equal(reason, `the items can be in "${first}" or in "${second}"; say where, with ${flags}`)
    }
    assert.deepEqual((await readObject('{"data":[{"a":1}],"errors":[],"ids":[1]}')).items, ['{"a":1}'])
    const twice = 'the object has two arrays at "data"; remove one of them'
    assert.equal((await refusal('{"data":[{}],"data":[]}', { ...json, items: 'data' }))[1], twice)
  })

  it('refuses an object without the array, and says what to do', async () => {
    const none =
      /^the file is one object, and no member of it is an array of objects; .*--items result\.records; .*in \[ \]$/
    for (const text of ['{}', '{"a":{"b":[{}]},"c":[1]}']) assert.match((await refusal(text, json))[1], none)
    for (const text of ['{"a":{}}', '{"a":{"b":1}}', '{"a":[{"b":[{}]}]}', '{"b":[{}]}'])
      assert.match(
        (await refusal(text, { ...json, items: 'a.b' }))[1],
        /^the file is one object, and it has no array at "a\.b";/,
      )
    const array = 'the file is not an object with "a" in it; leave out --items'
    assert.deepEqual(await refusal('\n[{}]', { ...json, items: 'a' }), [2, array, '[{}]'])
  })

  it('says where the text around the items is wrong', async () => {
    const cases: [string, number, string, string][] = [
      ['{"a":1}\n{"b":2}', 2, 'something follows the object; for one object per line use --format ndjson', '{"b":2}'],
      ['{"a":[{}]}\n]', 2, 'something follows the object; for one object per line use --format ndjson', ']'],
      ['{"a":[{}]\n', 2, 'it is truncated: the closing } of the object is missing', ''],
      ['{"a":[{}\n', 2, 'it is truncated: the closing ] of the array is missing', ''],
      ['{"a":\n"b', 2, 'it is truncated: the closing } of the object is missing', ''],
      ['{"a":[{}],\n"b":x}', 2, 'unexpected character `x`', '"b":x}'],
      ['{"a":[{}],\n}', 2, 'unexpected character `}`', '}'],
      ['{"a":[{},\n1]}', 2, 'it is a number, not an object', '1]}'],
      [`{"a":${'['.repeat(512)}`, 1, 'nested deeper than 512', `…${'['.repeat(41)}`],
    ]
    for (const [input, ...expected] of cases) assert.deepEqual(await refusal(input, json), expected, input)
  })

  it('accepts an object exactly if JSON.parse does, and finds the same items wherever the chunks are cut', async () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const object = fc.dictionary(fc.string({ maxLength: 3 }), value, { maxKeys: 4 })
    const damage = fc.tuple(fc.nat(), fc.constantFrom('', '', '', ',', '"', ']', '{', '\\', '1', '\n'), fc.boolean())
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(
        object,
        damage,
        sizes,
        fc.nat({ max: 2 }),
        async (rest, [place, piece, isCut], chunks, indent) => {
          const whole = JSON.stringify({ ...rest, 'the items': [{ a: 1 }, { b: [{}] }] }, null, indent)
          const at = 1 + (place % (whole.length - 1))
          const text = (
            isCut && piece !== '' ? whole.slice(0, at) : whole.slice(0, at) + piece + whole.slice(at)
          ).toWellFormed()
          let parsed: Record<string, unknown> | undefined
          try {
            parsed = JSON.parse(text)
          } catch {
            // Then it has to be refused.
          }
          const reading = await readObject(text, 'the items', chunks)
          if (parsed === undefined) assert.notEqual(reading.error, undefined)
          else if (reading.error === undefined)
            assert.deepEqual(
              reading.items.map((item) => JSON.parse(item)),
              parsed['the items'],
            )
          const { error, ...others } = await readObject(text, 'the items')
          const { error: chunkedError, ...chunkedOthers } = reading
          assert.deepEqual(chunkedOthers, others)
          assert.deepEqual([chunkedError?.line, chunkedError?.reason], [error?.line, error?.reason])
          if (piece === '') assert.equal(error, undefined)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('holds no more of a large object than an item may have', async () => {
    const block = Buffer.from(`${'[1,"x"],'.repeat(8_000)}`)
    let sent = 0
    async function* source(): AsyncIterable<Uint8Array> {
      yield Buffer.from(`{"${'n'.repeat(100_000)}":1,"other":[`)
      for (; sent < 500; sent++) yield block
      yield Buffer.from('1],"s":"')
      for (; sent < 1_000; sent++) yield Buffer.alloc(64_000, 'x')
      yield Buffer.from('","data":[{"a":1}]}')
    }
    const before = process.memoryUsage().arrayBuffers
    const counts: number[] = []
    for await (const { run } of readItems(source(), json)) {
      counts.push(run.count)
      assert.ok(process.memoryUsage().arrayBuffers - before < 48_000_000)
    }
    assert.deepEqual([counts, sent], [[1], 1_000])
  })
})
