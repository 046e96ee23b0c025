/** JSON texts of items, right ones of every strange kind and wrong ones; and how any bytes are damaged. */

import { type Dice, texts, words } from '../dice.ts'

const NAMES = [...words(`a name __proto__ constructor item_count _links é 😀 a\\u0000b \\"`), '', ' ']
const STRINGS = words(`
  text é\u2028\u2029\u007f 😀 \\u0000 \\ud800 \\udc00\\ud800 \\ud83d\\ude00 \\"\\\\\\/\\b\\f\\n\\r\\t
  </script><!-- ,\\n },{
`)
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

const BAD_TEXTS = texts(`
  { | } | {] | [ | null | 7 | "text" | {"a":1,} | {,} | {'a':1} | {a:1} | {"a":01} | {"a":+1} | {"a":.5} | {"a":1.}
  | {"a":NaN} | {"a":" | {"a":1}} | {"a":tru} | {"a":"\u0001"} | {"a":"\\x"} | {"a":"\\u12"} | {"a":1} {"b":2}
  | {"a" 1} | {"a":1 "b":2} | /* */{} | \u00a0{} | {}\u0000
`)

/** As Latin-1; none is UTF-8. */
const BAD_BYTES = ['{"a":"\xff"}', '{"a":"\xc3"}', '{"a":"\xed\xa0\x80"}', '{"a":"\xf0\x9f\x98', '\xfe\xff\x00{\x00}']

/** What is no item. */
export function badItem(dice: Dice): Buffer {
  if (dice.chance(20)) return Buffer.from(dice.of(BAD_BYTES), 'latin1')
  if (dice.chance(10)) return Buffer.from(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`)
  if (dice.chance(10)) return Buffer.from('['.repeat(dice.between(500, 100_000)))
  if (dice.chance(20)) {
    const text = goodItem(dice)
    return Buffer.from(text.slice(0, dice.between(1, text.length - 1)))
  }
  return Buffer.from(dice.of(BAD_TEXTS))
}

/** Bytes on which parsers decide something. */
const TELLING = [...words(`: , ; 0 - / ? % " { }`), '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', '\0', '\xff']

/** Flips, inserts, replaces, removes or repeats some bytes, up to six times. */
export function mutate(dice: Dice, bytes: Buffer): Buffer {
  let mutant = bytes
  for (let round = dice.between(1, 6); round > 0; round--) mutant = mutateOnce(dice, mutant)
  return mutant
}

function mutateOnce(dice: Dice, bytes: Buffer): Buffer {
  const at = dice.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + (dice.chance(70) ? dice.between(1, 4) : dice.between(1, 200)))
  const piece = bytes.subarray(at, end)
  const telling = Buffer.from(dice.of(TELLING), 'latin1')
  const flipped = piece.map((byte, index) => (index < 4 ? byte ^ (1 << dice.below(8)) : byte))
  const random = dice.bytes(dice.between(1, 8))
  const inserted = dice.of([[flipped], [telling, piece], [telling], [], [piece, piece], [random, piece]])
  return Buffer.concat([bytes.subarray(0, at), ...inserted, bytes.subarray(end)])
}
