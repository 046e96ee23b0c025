/** Feeds any bytes, in any pieces, to the readers of items: they must accept exactly what is valid, whatever the pieces. */

import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { isTokenForm } from '../../src/contract/scope.ts'
import type { InputFormat, ReadOptions } from '../../src/items/read-items.ts'
import { findCaller } from '../../src/service/access.ts'
import type { Store } from '../../src/store/store.ts'
import { type Reading, readAll } from '../items/read-all.ts'
import type { Dice } from './dice.ts'
import { badlyPacked } from './grammar/bodies.ts'
import { badAuthorization } from './grammar/header-lines.ts'
import { badItem, goodItem } from './grammar/items.ts'
import { mutate } from './grammar/mutate.ts'
import { TOKENS } from './site.ts'

const FIELDS = ['a', 'b c', '', '"q"', '"a,b"', '"line\nbreak"', '"say ""so"""', 'é', '"', 'x"y', ' 1 ', '😀'] as const
const ITEM_BYTES = 4_000

export interface InputCase {
  readonly bytes: Buffer
  readonly options: ReadOptions
}

export function anyInput(dice: Dice): InputCase {
  const format = dice.of<InputFormat>(['ndjson', 'json', 'csv'])
  const text = format === 'csv' ? csv(dice) : json(dice, format)
  const source = dice.chance(30) ? mutate(dice, text) : text
  const bytes = dice.chance(75) ? source : dice.chance(50) ? gzipSync(source) : badlyPacked(dice, source)
  const keyField = dice.chance(30) ? dice.of(['a', 'id', '__proto__', '']) : null
  // Of a row of CSV that is too large and wrong in another way too, either may be found first.
  const isTight = format !== 'csv' && dice.chance(20)
  return { bytes, options: { format, keyField, itemBytes: isTight ? dice.between(10, 200) : ITEM_BYTES } }
}

function json(dice: Dice, format: InputFormat): Buffer {
  const count = dice.chance(90) ? dice.below(6) : dice.between(490, 1_010)
  const items = dice.times<Buffer>(count, () => Buffer.from(count > 10 ? '{"a":1}' : goodItem(dice)))
  if (dice.chance(25)) items.push(badItem(dice))
  const separator =
    format === 'json' ? dice.of([',', ' , ', ',\n', ',,', '']) : dice.of(['\n', '\r\n', '\n\n', ' \n', ''])
  const [open, close] = format === 'json' ? ['[', dice.of([']', ']', ']', ']\n', '', ']]'])] : ['', dice.of(['', '\n'])]
  const mark = dice.chance(5) ? '\ufeff' : ''
  return Buffer.concat(
    [`${mark}${open}`, ...items.flatMap((item, index) => [index === 0 ? '' : separator, item]), close].map((part) =>
      Buffer.from(part),
    ),
  )
}

function csv(dice: Dice): Buffer {
  const width = dice.between(1, 4)
  const end = dice.of(['\n', '\r\n', '\r'])
  const row = () => dice.times(dice.chance(95) ? width : dice.between(1, 5), () => dice.of(FIELDS)).join(',')
  const header = dice.chance(80) ? ['a', 'b', '__proto__', 'id'].slice(0, width).join(',') : row()
  return Buffer.from([header, ...dice.times(dice.below(20), row)].join(end) + dice.of(['', end]))
}

/** What is wrong; undefined if nothing is. */
export async function judgeInput(dice: Dice, { bytes, options }: InputCase): Promise<string | undefined> {
  try {
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
    const whole = await readAll(bytes, options)
    for (const sizes of [[1], dice.times(5, () => dice.between(1, 50)), [dice.between(1, bytes.length + 1)]]) {
      const cut = await readAll(bytes, options, bytes.length > 5_000 ? sizes.map((size) => size * 100) : sizes)
      if (!isDeepStrictEqual(resultOf(cut, isPacked), resultOf(whole, isPacked)))
        return `${options.format} depends on how it is cut into pieces\n${summary(cut)}; in one piece: ${summary(whole)}`
    }
    return isPacked ? undefined : flawOf(whole, bytes, options)
  } catch (error) {
    return `${options.format}: a reader threw ${error instanceof Error ? error.stack : error}`
  }
}

/** What must not depend on the pieces. If gzip is damaged and an item is wrong too, either may be found first. */
function resultOf({ items, lines, keys, error }: Reading, isPacked: boolean) {
  if (error === undefined) return { items, lines, keys }
  return isPacked ? 'refused' : { line: error.line, reason: withoutSize(error.reason) }
}

/** The size of an item that is too large is known only if all of it has arrived. */
function withoutSize(reason: string): string {
  return reason.replace(/has (more than )?[\d,]+ bytes, the limit/, 'has too many bytes, the limit')
}

function summary({ items, error }: Reading): string {
  return error === undefined ? `${items.length} items` : `line ${error.line}: ${error.reason}`
}

/** Compares with what JSON.parse makes of the same bytes. */
function flawOf(
  { items, error }: Reading,
  bytes: Buffer,
  { format, keyField, itemBytes = 0 }: ReadOptions,
): string | undefined {
  if (error === undefined && !isUtf8(bytes)) return `${format} that is not UTF-8 is accepted`
  const text = bytes.toString().replace(/^\ufeff/, '')
  if (format === 'csv') return error === undefined ? csvFlaw(items) : undefined
  const expected = format === 'json' ? elementsOf(text) : linesOf(text)
  if (error !== undefined) {
    const isForItsForm = keyField === null && !/the limit is|nested/.test(error.reason) && isUtf8(bytes)
    return expected !== undefined && isForItsForm ? `valid ${format} is refused\n${error.reason}` : undefined
  }
  if (expected === undefined) return `invalid ${format} is accepted`
  if (items.some((item) => Buffer.byteLength(item) > itemBytes)) return `${format}: an item above the limit is accepted`
  const isSame =
    items.length === expected.length &&
    items.every((item, index) => isDeepStrictEqual(JSON.parse(item), expected[index]))
  return isSame ? undefined : `${format}: the items differ from the source`
}

function csvFlaw(items: readonly string[]): string | undefined {
  const isRow = (item: string) => Object.values(JSON.parse(item)).every((value) => typeof value === 'string')
  return items.every(isRow) ? undefined : 'csv: a value is not a string'
}

/** Undefined if the text is not an array of objects. */
function elementsOf(text: string): unknown[] | undefined {
  if (/^[ \t\r\n]*$/.test(text)) return []
  const value = parsed(text)
  return Array.isArray(value) && value.every(isObject) ? value : undefined
}

/** Undefined if a line is not an object. */
function linesOf(text: string): unknown[] | undefined {
  const values = text
    .split('\n')
    .filter((line) => !/^[ \t\r]*$/.test(line))
    .map(parsed)
  return values.every(isObject) ? values : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const GOOD = [TOKENS.writer.token, TOKENS.reader.token, TOKENS.stranger.token]

export function anyAuthorization(dice: Dice): string {
  const good = `Bearer ${dice.of(GOOD)}`
  if (dice.chance(20)) return good
  if (dice.chance(40)) return badAuthorization(dice)
  return mutate(dice, Buffer.from(good)).toString(dice.of(['latin1', 'utf8']))
}

/** What is wrong; undefined if nothing is. */
export async function judgeToken(authorization: string, store: Store): Promise<string | undefined> {
  try {
    const headers = new Map([['authorization', authorization]])
    const incoming = { get: (name: string) => headers.get(name) ?? null, has: (name: string) => headers.has(name) }
    const request = { method: 'GET', target: '/', host: null, headers: incoming, readBody: async () => {} }
    const caller = await findCaller(request, store)
    const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    const isGood = GOOD.includes(token)
    if (isGood !== (caller?.isKnown === true)) return isGood ? 'a good token is refused' : 'a bad token is accepted'
    return isGood && !isTokenForm(token) ? 'a good token does not have the form of a token' : undefined
  } catch (error) {
    return `a token made the code throw ${error instanceof Error ? error.stack : error}`
  }
}
