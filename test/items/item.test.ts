import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatKeyFields, joinKey } from '../../src/contract/key.ts'
import { ItemPacker, itemRun } from '../../src/items/item-run.ts'
import { ItemError, ItemScanner, itemKey, MAX_KEY_BYTES } from '../../src/items/item-scanner.ts'
import { character } from './read-all.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The reason why a single text is refused. */
function reasonFor(text: string, options?: Parameters<typeof itemRun>[1]): string {
  try {
    itemRun([text], options)
  } catch (error) {
    assert.ok(error instanceof ItemError)
    return error.reason
  }
  return assert.fail(`${text} is taken`)
}

describe('a run of items', () => {
  it('keeps every item as it is written', () => {
    const texts = [
      '{"n":[12345678901234567890,1.10,1E5,-0]}',
      '{"a":1,"a":2,"__proto__":{"x":null}}',
      ' {"escapes" : "\\u00e9\\/\\n", "raw":"é😀\u2028"}\t',
      '{}',
    ]
    const run = itemRun(texts)
    assert.equal(run.count, 4)
    assert.equal(decoder.decode(run.text), texts.join(',\n'))
    assert.equal(run.keys, undefined)
  })

  it('has no line break within an item: it becomes a blank', () => {
    const run = itemRun(['\n{\r\n  "a":\n1\n}\r', '{"a":"\\n"}'])
    assert.equal(decoder.decode(run.text), ' {    "a": 1 } ,\n{"a":"\\n"}')
  })

  it('can be empty', () => {
    assert.deepEqual(itemRun([]), { count: 0, text: new Uint8Array(0), keys: undefined })
    assert.deepEqual(itemRun([], { keyField: 'id' }).keys, [])
  })

  it('refuses what is not one JSON object, and says which item it is', () => {
    assert.equal(reasonFor('[1]'), 'it is an array, not an object')
    assert.equal(reasonFor('[1'), 'it is an array, not an object')
    assert.equal(reasonFor('"x"'), 'it is a string, not an object')
    assert.equal(reasonFor(' null '), 'it is null, not an object')
    assert.equal(reasonFor('-1.5'), 'it is a number, not an object')
    assert.equal(reasonFor('nope'), 'unexpected character `o` at column 2')
    assert.equal(reasonFor(' \n'), 'it is empty')
    assert.equal(reasonFor('{"a":1'), 'it is truncated: a closing } is missing')
    assert.equal(reasonFor('{"a":[1'), 'it is truncated: a closing ] is missing')
    assert.equal(reasonFor('{"a":"1'), 'it is truncated: a closing " is missing')
    assert.equal(reasonFor('{"a":1}{"b":2}'), 'something follows the object')
    assert.equal(reasonFor('{"é":1,\n"😀" ü}'), 'unexpected character `ü` at column 5')
    assert.match(
      reasonFor('{"a":"\u0007"}'),
      /^the control character `\\u0007` at column 7 must be written as an escape$/,
    )
    assert.equal(reasonFor('{"a":"\n"}'), 'there is a line break in a string at column 7: is its closing " missing?')
    assert.equal(reasonFor('{"a":"\\x"}'), 'unknown escape in a string at column 8')
    assert.equal(reasonFor('{"a":"\\u00g0"}'), 'unknown escape in a string at column 11')
    assert.equal(reasonFor(`{"a":${'['.repeat(512)}`), 'nested deeper than 512 at column 517')
    assert.match(reasonFor('{"a":"\ud800"}'), /^it contains a lone surrogate/)
    assert.throws(() => itemRun(['{}', '[1,2]', '{}']), {
      name: 'ItemError',
      kind: 'form',
      message: 'Item 2 of 3: it is an array, not an object: `[1,2]`',
    })
  })

  it('refuses an item above the limit, and names both sizes', () => {
    const item = '{"a":"é"}'
    assert.equal(itemRun([item], { itemBytes: 10 }).count, 1)
    assert.match(reasonFor(item, { itemBytes: 9 }), /^the item has 10 bytes, the limit is 9;/)
    const large = JSON.stringify({ a: 'x'.repeat(300_000) })
    assert.match(reasonFor(large), /^the item has 300,008 bytes, the limit is 262,144;/)
    assert.match(
      reasonFor(large),
      /; make it smaller, or raise the limit with the setting item-bytes, up to 1,048,576$/,
    )
    const tooLarge = JSON.stringify({ a: 'x'.repeat(1_048_576) })
    assert.match(reasonFor(tooLarge), /the limit is 262,144; make it smaller: no item can have more than 1,048,576$/)
    assert.throws(() => itemRun([large]), { kind: 'size', message: /`\{"a":"x{94}…`$/ })
  })
})

describe('the key of an item', () => {
  it('is a string or an integer as it is written', () => {
    const keys = {
      '{"id":7}': '7',
      '{"id":"7"}': '7',
      '{"id":-0}': '-0',
      '{"id":12345678901234567890}': '12345678901234567890',
      '{"id":12345678901234567891 }': '12345678901234567891',
      '{"a":{"id":1},"\\u0069d" : "a\\u00e9\\ud83d\\ude00\\"\\n"}': 'aé😀"\n',
      '{"id":"\ufeffx"}': '\ufeffx',
      '{"id":"\\u0001 "}': '\u0001 ',
    }
    for (const [text, key] of Object.entries(keys)) assert.equal(itemKey(encoder.encode(text), 'id'), key)
    assert.deepEqual(itemRun(Object.keys(keys), { keyField: 'id' }).keys, Object.values(keys))
  })

  it('is refused with a reason of its own for everything else', () => {
    const reasons = {
      '{"id":1.5}': 'is a number with a fraction or an exponent; a key is a string or an integer',
      '{"id":1E5}': 'is a number with a fraction or an exponent; a key is a string or an integer',
      '{"id":true}': 'is true; a key is a string or an integer',
      '{"id":null}': 'is null; a key is a string or an integer',
      '{"id":{"id":1}}': 'is an object; a key is a string or an integer',
      '{"id":[1]}': 'is an array; a key is a string or an integer',
      '{"ID":1}': 'is missing',
      '{}': 'is missing',
      '{"id":1,"\\u0069d":1}': 'is given more than once',
      '{"id":""}': 'is empty',
      '{"id":"\\ud800x"}': 'contains a lone surrogate, which UTF-8 cannot express',
      '{"id":"\\udc00\\ud800"}': 'contains a lone surrogate, which UTF-8 cannot express',
      '{"id":"a\\u0000"}': 'contains a NUL character, which is not allowed in a key',
    }
    for (const [text, reason] of Object.entries(reasons))
      assert.equal(reasonFor(text, { keyField: 'id' }), `the key field "id" ${reason}`)
    assert.throws(() => itemRun(['{}'], { keyField: 'id' }), { kind: 'key' })
  })

  it('has at most 1,024 bytes in UTF-8', () => {
    const longest = 'é'.repeat(MAX_KEY_BYTES / 2)
    assert.equal(itemKey(encoder.encode(JSON.stringify({ id: longest })), 'id'), longest)
    assert.equal(itemKey(encoder.encode(`{"id":"${'\\u00e9'.repeat(MAX_KEY_BYTES / 2)}"}`), 'id'), longest)
    const tooLong = 'the key field "id" has 1,025 bytes; a key has at most 1,024'
    assert.equal(reasonFor(JSON.stringify({ id: `${longest}x` }), { keyField: 'id' }), tooLong)
    assert.equal(reasonFor(`{"id":${'1'.repeat(1025)}}`, { keyField: 'id' }), tooLong)
  })

  it('is what the field holds, whatever stands around it and however it is written', () => {
    const escaped = (text: string): string =>
      `"${[...text].map((c) => [...Array(c.length)].map((_, i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')).join('')}"`
    const written = fc.constantFrom(JSON.stringify, escaped)
    const wellFormed = fc.string({ unit: character, maxLength: 20 })
    const keyText = wellFormed.filter((text) => text !== '' && !text.includes('\0'))
    const value = fc.oneof(
      fc.tuple(keyText, written).map(([key, write]) => [key, write(key)] as const),
      fc.bigInt().map((key) => [String(key), String(key)] as const),
    )
    const others = fc.array(fc.tuple(wellFormed, fc.jsonValue()), { maxLength: 4 })
    const blank = fc.constantFrom('', ' ', '\t', '\n')
    fc.assert(
      fc.property(
        wellFormed,
        value,
        written,
        others,
        fc.nat(),
        blank,
        (field, [key, text], write, members, place, b) => {
          const rest = members.filter(([name]) => name !== field)
          const texts = rest.map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)}`)
          texts.splice(place % (texts.length + 1), 0, `${write(field)}${b}:${b}${text}${b}`)
          const item = `{${texts.join(',')}}`
          const keyField = formatKeyFields([field])
          assert.equal(itemKey(encoder.encode(item), keyField), key)
          assert.deepEqual(itemRun([item, item], { keyField }).keys, [key, key])
        },
      ),
    )
  })

  it('cannot be asked for by a name that no item can have', () => {
    assert.throws(() => new ItemScanner({ keyField: '\ud800' }), TypeError)
  })
})

describe('the key of several fields', () => {
  const keyField = 'a,b'

  it('is their values in the order of the fields, joined by a comma', () => {
    const keys = {
      '{"a":"x,y","b":7}': 'x\\,y,7',
      '{"b":7,"more":{"a":1},"a":"x,y"}': 'x\\,y,7',
      '{"a":"\\\\","b":"\\u002c"}': '\\\\,\\,',
      '{"a":12345678901234567890,"b":-0}': '12345678901234567890,-0',
      '{"a":"","b":""}': ',',
      '{"a":".","b":"."}': '.,.',
      '{"a":"é","b":"\\ud83d\\ude00"}': 'é,😀',
      '{"\\u0061":"\ufeff","b":"b"}': '\ufeff,b',
    }
    for (const [text, key] of Object.entries(keys)) assert.equal(itemKey(encoder.encode(text), keyField), key, text)
    assert.deepEqual(itemRun(Object.keys(keys), { keyField }).keys, Object.values(keys))
    assert.equal(itemKey(encoder.encode('{"c":3,"a,b":1,"\\\\":2}'), 'a\\,b,\\\\,c'), '1,2,3')
    assert.equal(itemKey(encoder.encode('{"a,b":"x,\\\\"}'), 'a\\,b'), 'x,\\')
  })

  it('is refused with the field that is at fault', () => {
    const reasons = {
      '{"a":1}': 'the key field "b" is missing',
      '{"b":1}': 'the key field "a" is missing',
      '{"a":1,"b":2,"b":2}': 'the key field "b" is given more than once',
      '{"a":1,"b":null}': 'the key field "b" is null; a key is a string or an integer',
      '{"a":1.5,"b":1}':
        'the key field "a" is a number with a fraction or an exponent; a key is a string or an integer',
      '{"a":"","b":"\\u0000"}': 'the key field "b" contains a NUL character, which is not allowed in a key',
      '{"a":"\\ud800","b":1}': 'the key field "a" contains a lone surrogate, which UTF-8 cannot express',
    }
    for (const [text, reason] of Object.entries(reasons)) assert.equal(reasonFor(text, { keyField }), reason)
  })

  it('has at most 1,024 bytes, with its commas and backslashes', () => {
    const commas = ','.repeat(400)
    const longest = JSON.stringify({ a: commas, b: 'x'.repeat(223) })
    assert.equal(Buffer.byteLength(itemKey(encoder.encode(longest), keyField)), MAX_KEY_BYTES)
    assert.equal(
      reasonFor(JSON.stringify({ a: commas, b: 'x'.repeat(224) }), { keyField }),
      'the key of the fields "a", "b" has 1,025 bytes; a key has at most 1,024',
    )
    assert.match(
      reasonFor(JSON.stringify({ a: 'é'.repeat(5000), b: '\\'.repeat(5000) }), { keyField }),
      / 20,001 bytes;/,
    )
  })

  it('is the same for two items if and only if their values are', () => {
    const text = fc.string({ unit: fc.oneof(fc.constantFrom(',', '\\', '"', '1'), character), maxLength: 6 })
    const value = fc.oneof(
      text.filter((each) => !each.includes('\0')),
      fc.bigInt(),
    )
    const names = fc.uniqueArray(fc.string({ unit: fc.constantFrom(',', '\\', 'a', '"'), minLength: 1 }), {
      minLength: 2,
      maxLength: 4,
    })
    const jsonOf = (each: string | bigint) => (typeof each === 'bigint' ? String(each) : JSON.stringify(each))
    const itemOf = (fields: readonly string[], values: readonly (string | bigint)[]) =>
      `{${fields.map((name, index) => `${JSON.stringify(name)}:${jsonOf(values[index] ?? '')}`).join(',')}}`
    fc.assert(
      fc.property(names, fc.array(value), fc.array(value), (fields, these, those) => {
        const [one = '', other = ''] =
          itemRun([itemOf(fields, these), itemOf(fields, those)], { keyField: formatKeyFields(fields) }).keys ?? []
        const [own, others] = [these, those].map((values) => fields.map((_, index) => String(values[index] ?? '')))
        assert.equal(one, joinKey(own ?? []))
        assert.equal(one === other, own?.join('\0') === others?.join('\0'))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the item packer', () => {
  it('is full with a page of items, and hands out bytes that nobody else uses', () => {
    const scanner = new ItemScanner({ keyField: 'id' })
    const packer = new ItemPacker(scanner)
    const pack = (from: number): void => {
      for (let id = from; !packer.isFull; id++) {
        const bytes = encoder.encode(JSON.stringify({ id, text: 'x'.repeat(1000) }))
        scanner.check(bytes, 0, bytes.length)
        packer.add(bytes, 0, bytes.length)
      }
    }
    pack(0)
    const first = packer.take()
    const before = first.text.slice()
    assert.equal(packer.count, 0)
    pack(500)
    const second = packer.take()
    assert.deepEqual(first.text, before)
    assert.notEqual(first.text.buffer, second.text.buffer)
    for (const run of [first, second]) {
      assert.equal(run.count, 500)
      assert.equal(run.text.buffer.byteLength, run.text.length)
    }
    assert.deepEqual([...(first.keys ?? []), ...(second.keys ?? [])], [...Array(1000).keys()].map(String))
    assert.equal(JSON.parse(`[${decoder.decode(second.text)}]`)[499].id, 999)
  })
})
