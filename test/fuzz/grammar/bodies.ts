/** Bodies of requests: their items, how they are packed, and how they are framed. */

import { gzipSync } from 'node:zlib'
import { type Dice, texts } from '../dice.ts'

/** A body and the headers that describe it. */
export interface Body {
  readonly bytes: Buffer
  readonly headers: readonly string[]
}

export const NO_BODY: Body = { bytes: Buffer.alloc(0), headers: [] }

const BYTE_ORDER_MARK = '\ufeff'
const JSON_TYPES = texts(`
  application/json | Application/JSON | application/json; charset=utf-8 | application/json;q=1
`)
const NDJSON_TYPES = texts(`application/x-ndjson | application/ndjson | application/jsonl; charset=UTF-8`)

/** Items in any form in which they are taken; one item in a form that is not an array, if `isAlone`. */
export function bodyOf(
  dice: Dice,
  items: readonly (string | Buffer)[],
  isAlone = false,
  isNdjson = dice.chance(40),
): Body {
  const isArray = !isNdjson && (items.length > 1 || (!isAlone && dice.chance(30)))
  const end = dice.of(['\n', '\n', '\r\n', '\n\n', ' \n'])
  const blank = dice.of(['', '', ' ', '\n', '\r\n\t'])
  const separator = isNdjson ? end : `${blank},${blank}`
  const parts = [
    ...(dice.chance(5) ? [BYTE_ORDER_MARK] : []),
    ...(isArray ? [`${blank}[${blank}`] : []),
    ...items.flatMap((item, index) => [index === 0 ? '' : separator, item]),
    ...(isArray ? [`${blank}]${blank}`] : []),
    ...(isNdjson && dice.chance(70) ? [end] : []),
  ]
  return {
    bytes: Buffer.concat(parts.map((part) => Buffer.from(part))),
    headers: [`Content-Type: ${dice.of(isNdjson ? NDJSON_TYPES : JSON_TYPES)}`],
  }
}

/** The same, packed in a way that is taken. */
export function packed(dice: Dice, { bytes, headers }: Body): Body {
  const cut = dice.below(bytes.length + 1)
  const members = dice.chance(20) ? [bytes.subarray(0, cut), bytes.subarray(cut)] : [bytes]
  return {
    bytes: Buffer.concat(members.map((member) => gzipSync(member, { level: dice.below(10) }))),
    headers: [...headers, `Content-Encoding: ${dice.of(['gzip', 'GZIP', 'x-gzip'])}`],
  }
}

/** Gzip that is damaged, incomplete, more than gzip, or far larger than it looks. */
export function badlyPacked(dice: Dice, bytes: Buffer): Buffer {
  const good = gzipSync(bytes)
  const kinds: readonly (() => Buffer)[] = [
    () => good.subarray(0, dice.below(good.length)),
    () => {
      // Behind the header, where nothing is left to chance: every flip is found by the checksum.
      const at = dice.between(10, good.length - 1)
      return good.map((byte, index) => (index === at ? byte ^ (1 << dice.below(8)) : byte)) as Buffer
    },
    () => Buffer.concat([good, Buffer.from('garbage')]),
    () => Buffer.concat([good, Buffer.alloc(dice.between(1, 100)), Buffer.from('x')]),
    () => gzipSync(Buffer.alloc(dice.between(2, 8) * 1_000_000, '{"a":1}\n'), { level: 9 }),
    () => Buffer.concat([Buffer.from([0x1f, 0x8b]), dice.bytes(dice.below(100))]),
  ]
  return dice.of(kinds)()
}

/** Frames a body by its length or in chunks, as HTTP/1.1 has it. */
export function framed(dice: Dice, { bytes, headers }: Body): Body {
  if (dice.chance(70)) return { bytes, headers: [...headers, `Content-Length: ${bytes.length}`] }
  const extension = dice.chance(10) ? ';name=value' : ''
  const end = `0\r\n${dice.chance(10) ? 'X-Trailer: value\r\n' : ''}\r\n`
  return {
    bytes: chunks(bytes, { size: dice.between(1, 5000), extension, end }),
    headers: [...headers, 'Transfer-Encoding: chunked'],
  }
}

/** No more than a hundred of them, and what stands behind the last one that is not empty. */
export function chunks(bytes: Buffer, { size = 10, extension = '', end = '0\r\n\r\n' }): Buffer {
  const step = Math.max(size, Math.ceil(bytes.length / 100))
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) {
    const piece = bytes.subarray(at, at + step)
    pieces.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from(end, 'latin1')])
}
