import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { readItems } from '../../src/items/read-items.ts'
import { readAll, refusal } from './read-all.ts'

const json = { format: 'json' } as const

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
