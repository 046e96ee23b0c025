/** Feeds files of every format, damaged or not, to the readers of items: what they make of them must not depend on the pieces. */

import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { InputFormat, ReadOptions } from '../../src/items/read-items.ts'
import { type Reading, readAll } from '../items/read-all.ts'
import type { Dice } from './dice.ts'
import { shown } from './findings.ts'
import { badlyPacked, bodyOf } from './grammar/bodies.ts'
import { badItem, goodItem, mutate } from './grammar/items.ts'

const FIELDS = ['a', 'b c', '', '"q"', '"a,b"', '"line\nbreak"', '"say ""so"""', 'é', '"', 'x"y', ' 1 ', '😀'] as const

/** What is wrong and with which input; undefined if nothing is. */
export async function readerFlaw(dice: Dice): Promise<[flaw: string, details: string] | undefined> {
  const format = dice.of<InputFormat>(['ndjson', 'json', 'csv'])
  const items = [...dice.times(dice.below(6), () => goodItem(dice)), ...(dice.chance(25) ? [badItem(dice)] : [])]
  const plain = format === 'csv' ? csv(dice) : bodyOf(dice, items).bytes
  const isNested = format === 'json' && dice.chance(40)
  const whole = isNested ? Buffer.concat([Buffer.from('{"a\\u0062":[1,{}],"data":'), plain, Buffer.from('}')]) : plain
  const source = dice.chance(30) ? mutate(dice, whole) : whole
  const bytes = dice.chance(75) ? source : dice.chance(50) ? gzipSync(source) : badlyPacked(dice, source)
  const options = {
    format,
    keyField: dice.of([null, null, null, 'a', 'id', '__proto__', '']),
    itemBytes: 4_000,
    encoding: dice.of([undefined, undefined, undefined, 'utf-16le', 'shift_jis', 'gb18030']),
    items: dice.chance(20) ? 'data' : undefined,
  }
  const sizes = dice.of([[1], dice.times(5, () => dice.between(1, 50)), [dice.between(1, bytes.length + 1)]])
  const flaw = await flawOf(bytes, options, bytes.length > 5_000 ? sizes.map((size) => size * 100) : sizes)
  return flaw === undefined ? undefined : [flaw, `${JSON.stringify(options)} ${sizes} ${shown(bytes)}`]
}

function csv(dice: Dice): Buffer {
  const width = dice.between(1, 4)
  const end = dice.of(['\n', '\r\n', '\r'])
  const row = () => dice.times(dice.chance(95) ? width : dice.between(1, 5), () => dice.of(FIELDS)).join(',')
  const header = dice.chance(80) ? ['a', 'b', '__proto__', 'id'].slice(0, width).join(',') : row()
  return Buffer.from([header, ...dice.times(dice.below(20), row)].join(end) + dice.of(['', end]))
}

async function flawOf(bytes: Buffer, options: ReadOptions, sizes: readonly number[]): Promise<string | undefined> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  try {
    const [cut, whole] = [await readAll(bytes, options, sizes), await readAll(bytes, options)]
    if (isDeepStrictEqual(resultOf(cut, isPacked), resultOf(whole, isPacked))) return undefined
    return `${options.format} depends on how it is cut into pieces\n${cut.error?.reason}; in one: ${whole.error?.reason}`
  } catch (error) {
    return `${options.format}: a reader threw ${error instanceof Error ? error.stack : error}`
  }
}

/** What must not depend on the pieces. If gzip is damaged and an item is wrong too, either may be found first. */
function resultOf({ items, lines, keys, error }: Reading, isPacked: boolean) {
  if (error === undefined) return { items, lines, keys }
  // The size of an item that is too large is known only if all of it has arrived.
  const reason = error.reason.replace(/has (more than )?[\d,]+ bytes, the limit/, 'has too many bytes, the limit')
  return isPacked ? 'refused' : { line: error.line, reason }
}
