import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { JsonScanner, MAX_DEPTH, WatchedMember } from '../../src/items/json-scan.ts'

const encoder = new TextEncoder()

/** Whether the scanner takes the whole text as one JSON value, blanks around it allowed. */
function isTaken(text: string): boolean {
  const bytes = encoder.encode(text)
  const after = new JsonScanner().scan(bytes, 0, bytes.length)
  return after >= 0 && /^[ \t\n\r]*$/.test(new TextDecoder().decode(bytes.subarray(after)))
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A JSON text with blanks of every kind between its tokens. */
const spacedJson = fc
  .tuple(fc.jsonValue(), fc.constantFrom('', ' ', '\t', '\n', ' \r\n '))
  .map(([value, blank]) => JSON.stringify(value, null, 1).replaceAll('\n', blank).replace(/^|$/g, blank))

const jsonPiece = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"\\u00e9"', '\\', '\\u12', '"\\n"', ' ', '\n', '\t', '\0', '\u001f'],
  ...['0', '-', '1', '12.5', '.', 'e', 'E+', '1e5', '-0', '01', 'true', 'fals', 'null', 'nul', 'é', '\u2028', '\u00a0'],
)

describe('the JSON scanner', () => {
  it('takes every form of value that RFC 8259 has', () => {
    const texts = [
      ...['{}', '[]', ' [ ] ', '{ }', '{"a":1,"a":2}', '{"__proto__":{}}', '[[],{},[{}]]', '{"":""}'],
      ...['""', '"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"', '"\\ud800"', '"é\u2028\u007f"'],
      ...['0', '-0', '10', '-1.5', '1.10', '1E5', '1e+5', '0.0e-00', '12345678901234567890', 'true', 'false', 'null'],
      '\t\r\n {"a" : [1 , 2]\n}\n',
    ]
    for (const text of texts) assert.ok(isTaken(text), text)
  })

  it('refuses everything else', () => {
    const texts = [
      ...'| |{|}|[|{"a"}|{"a":}|{"a":1,}|{,}|[1,]|[,1]|[1 2]|{"a" 1}|{a:1}'.split('|'),
      ...'"|"a|"\\|"\\x"|"\\u12"|"\\u12g4"|"\n"|"\t"|"\0"|01|-|-a|+1|1.|.5|1e|1e+'.split('|'),
      ...'{\'a\':1}|tru|True|nul|nulll|NaN|Infinity|{} {}|[1]]|{"a":1}}|\u00a0{}|\ufeff{}|/**/{}|\v1'.split('|'),
    ]
    for (const text of texts) assert.ok(!isTaken(text), text)
  })

  it('takes what JSON.parse takes and refuses what it refuses', () => {
    fc.assert(fc.property(spacedJson, (text) => assert.ok(isTaken(text))))
    const soup = fc.array(jsonPiece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(soup, (text) => assert.equal(isTaken(text), isParsed(text))),
      { numRuns: 3000 },
    )
    const mutated = fc
      .tuple(spacedJson, fc.nat(), fc.nat({ max: 2 }), jsonPiece)
      .map(([text, place, removed, piece]) => {
        const at = place % (text.length + 1)
        return (text.slice(0, at) + piece + text.slice(at + removed)).toWellFormed()
      })
    fc.assert(
      fc.property(mutated, (text) => assert.equal(isTaken(text), isParsed(text))),
      { numRuns: 3000 },
    )
  })

  it('sees nothing of the bytes around a text', () => {
    const [a, b] = [new WatchedMember('a'), new WatchedMember('b')]
    const scanner = new JsonScanner(a, b)
    const surroundings = fc.constantFrom('', '1', '"', '}', ']', 'x', '{"a":1}', ',', '\n', '\\', 'e5')
    const text = fc.oneof(
      spacedJson,
      fc.array(jsonPiece).map((pieces) => pieces.join('')),
    )
    const outcome = (bytes: Uint8Array, start: number, end: number): unknown => {
      const after = scanner.scan(bytes, start, end)
      if (after < 0) return [scanner.fault, scanner.faultAt - start, scanner.fault === 'end' && scanner.missing]
      const members = [a, b].map(({ count, start: at }) => [count, count > 0 && at - start])
      return [after - start, ...members, scanner.hasLineBreak]
    }
    fc.assert(
      fc.property(surroundings, text, surroundings, (before, within, behind) => {
        const alone = encoder.encode(within)
        const start = encoder.encode(before).length
        const among = encoder.encode(before + within + behind)
        assert.deepEqual(outcome(among, start, start + alone.length), outcome(alone, 0, alone.length))
      }),
      { numRuns: 2000 },
    )
  })

  it('stops after the value, wherever other bytes follow', () => {
    const scanner = new JsonScanner()
    const bytes = encoder.encode('x{"a":[1]}{"b":2},')
    assert.equal(scanner.scan(bytes, 1, bytes.length), 10)
    assert.equal(scanner.scan(bytes, 10, bytes.length), 17)
    assert.equal(scanner.scan(encoder.encode('12,'), 0, 3), 2)
    assert.equal(scanner.scan(encoder.encode('"a" '), 0, 4), 3)
  })

  it('nests as deep as it says, and no deeper', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`
      assert.ok(isTaken(nested(MAX_DEPTH)))
      const scanner = new JsonScanner()
      const bytes = encoder.encode(nested(MAX_DEPTH + 1))
      assert.equal(scanner.scan(bytes, 0, bytes.length), -1)
      assert.equal(scanner.fault, 'depth')
      assert.equal(scanner.faultAt, MAX_DEPTH * open.length)
    }
  })

  it('tells a text that breaks off from one that is wrong, and what would close it', () => {
    const scanner = new JsonScanner()
    const closing: unknown[] = []
    const whole = '{"name":["a\\u00e9\\n",-1.5e+3,true,false,null,{}],"b":{"c":0}}'
    for (let length = 0; length < whole.length; length++) {
      const bytes = encoder.encode(whole.slice(0, length))
      assert.equal(scanner.scan(bytes, 0, bytes.length), -1)
      assert.equal(scanner.fault, 'end', whole.slice(0, length))
      assert.equal(scanner.faultAt, length)
    }
    for (const text of ['', '{', '{"a', '{"a":[1', '{"a":[1]', '[{"a":"\\', '[{"a":"\\u0']) {
      scanner.scan(encoder.encode(text), 0, text.length)
      closing.push(scanner.missing)
    }
    assert.deepEqual(closing, ['', '}', '"', ']', '}', '"', '"'])
  })

  it('notices a line break between tokens, and none elsewhere', () => {
    const scanner = new JsonScanner()
    const hasLineBreak = (text: string): boolean => {
      const bytes = encoder.encode(text)
      assert.ok(scanner.scan(bytes, 0, bytes.length) >= 0, text)
      return scanner.hasLineBreak
    }
    for (const text of ['\n{}', '{\n}', '[1\n]', '[1,\r2]', '{"a"\n:1}', '{"a":\r\n1}', '[true\n]'])
      assert.ok(hasLineBreak(text))
    for (const text of ['{}', '[1, 2]', '["\\n"]', '{"a":\t1 }', '{}\n']) assert.ok(!hasLineBreak(text))
  })

  it('finds the member that was asked for in the top-level object, however its name is written', () => {
    const find = (member: string, text: string): [number, string] => {
      const watched = new WatchedMember(member)
      const scanner = new JsonScanner(new WatchedMember('other'), watched)
      const bytes = encoder.encode(text)
      assert.ok(scanner.scan(bytes, 0, bytes.length) >= 0, text)
      const value = new TextDecoder().decode(bytes.subarray(watched.start))
      return [watched.count, watched.count > 0 ? value : '']
    }
    assert.deepEqual(find('id', '{"a":{"id":1},"id":2}'), [1, '2}'])
    assert.deepEqual(find('id', '{"id" \n:\t "x"}'), [1, '"x"}'])
    assert.deepEqual(find('id', '{"\\u0069d":{"id":3}}'), [1, '{"id":3}}'])
    assert.deepEqual(find('id', '{"id":1,"\\u0069\\u0064":2}'), [2, '2}'])
    assert.deepEqual(find('id', '{"a":"id","idx":1,"i":2,"xid":3,"":4,"\\u0069x":5}'), [0, ''])
    assert.deepEqual(find('id', '[{"id":1}]'), [0, ''])
    assert.deepEqual(find('é😀', '{"\\u00e9\\uD83D\\ude00":1,"é\\ud83d":2,"é😀":3}'), [2, '3}'])
    assert.deepEqual(find('a"b\\\n/', '{"a\\"b\\\\\\n\\/":1}'), [1, '1}'])
    assert.deepEqual(find('a":"b', '{"a":"b","c":1}'), [0, ''])
    assert.deepEqual(find('', '{"":1}'), [1, '1}'])
    assert.deepEqual(find('__proto__', '{"__proto__":1}'), [1, '1}'])
  })
})
