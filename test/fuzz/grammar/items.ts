/** JSON texts of items: right ones of every strange kind, and wrong ones. */

import { type Dice, words } from '../dice.ts'

const NAMES = [...words(`a name __proto__ constructor item_count _links é 😀`), '', ' ', 'a\\u0000b', '\\"']

const STRINGS = [
  '',
  'text',
  'é\u2028\u2029\u007f',
  '😀',
  '\\u0000',
  '\\ud800',
  '\\udc00\\ud800',
  '\\ud83d\\ude00',
  '\\"\\\\\\/\\b\\f\\n\\r\\t',
  '</script><!--',
  ',\\n',
  '},{',
] as const

const NUMBERS = words(`0 -0 7 1.10 1E5 1e400 -1e-400 12345678901234567890 0.1e+1 2147483648`)

const BLANKS = ['', '', '', ' ', '\t', '  '] as const

/** A JSON object; `first` is the text of its first member. */
export function goodItem(dice: Dice, first?: string): string {
  const members = dice.times(dice.below(5), () => memberOf(dice, dice.chance(3) ? dice.between(3, 400) : 2))
  const all = first === undefined ? members : [first, ...members]
  const blank = dice.of(BLANKS)
  return `{${blank}${all.join(`${blank},${blank}`)}${blank}}`
}

function memberOf(dice: Dice, depth: number): string {
  return `"${dice.of(NAMES)}"${dice.of(BLANKS)}:${dice.of(BLANKS)}${anyValue(dice, depth)}`
}

function anyValue(dice: Dice, depth: number): string {
  // A deep one grows in depth alone.
  if (depth > 2) return dice.chance(50) ? `[${anyValue(dice, depth - 1)}]` : `{"a":${anyValue(dice, depth - 1)}}`
  const kind = dice.below(depth > 0 ? 7 : 5)
  if (kind === 0) return dice.of(['true', 'false', 'null'])
  if (kind === 1) return dice.chance(5) ? '9'.repeat(dice.between(20, 500)) : dice.of(NUMBERS)
  if (kind <= 4) return `"${dice.chance(3) ? 'x'.repeat(dice.between(100, 3000)) : dice.some(STRINGS, 3).join('')}"`
  const parts = dice.times(dice.below(3), () => (kind === 5 ? anyValue(dice, depth - 1) : memberOf(dice, depth - 1)))
  return kind === 5 ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
}

const BAD_TEXTS = [
  ...words(`
    { } {] [ null 7 "text" {"a":1,} {,} {'a':1} {a:1} {"a":01} {"a":+1} {"a":.5} {"a":1.} {"a":NaN} {"a":"
    {"a":1}} {"a":tru}
  `),
  '{"a":"\u0001"}',
  '{"a":"\\x"}',
  '{"a":"\\u12"}',
  '{"a":1} {"b":2}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '/* */{}',
  '\u00a0{}',
  '{}\u0000',
]

const BAD_BYTES = [
  Buffer.from('{"a":"\xff"}', 'latin1'),
  Buffer.from('{"a":"\xc3"}', 'latin1'),
  Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'),
  Buffer.from('{"a":"\xf0\x9f\x98', 'latin1'),
  Buffer.from('\xfe\xff\x00{\x00}', 'latin1'),
] as const

/** What is no item. */
export function badItem(dice: Dice): Buffer {
  if (dice.chance(20)) return dice.of(BAD_BYTES)
  if (dice.chance(10)) return Buffer.from(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`)
  if (dice.chance(10)) return Buffer.from('['.repeat(dice.between(500, 100_000)))
  if (dice.chance(20)) {
    const text = goodItem(dice)
    return Buffer.from(text.slice(0, dice.between(1, text.length - 1)))
  }
  return Buffer.from(dice.of(BAD_TEXTS))
}
