/** Bodies of requests: their items, how they are packed, and how they are framed. */

import { gzipSync } from 'node:zlib'
import type { Dice } from '../dice.ts'

/** A body and the headers that describe it. */
export interface Body {
  readonly bytes: Buffer
  readonly headers: readonly string[]
}

const BYTE_ORDER_MARK = '\ufeff'
const JSON_TYPES = [
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;q=1',
] as const
const NDJSON_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl; charset=UTF-8'] as const

/** Items in any form in which they are taken; one item in a form that is not an array, if `isAlone`. */
export function bodyOf(dice: Dice, items: readonly (string | Buffer)[], isAlone = false): Body {
  const isNdjson = dice.chance(40)
  const [first = ''] = items
  const bytes = isNdjson
    ? lines(dice, items)
    : items.length > 1 || (!isAlone && dice.chance(30))
      ? array(dice, items)
      : first
  return {
    bytes: Buffer.concat([Buffer.from(dice.chance(5) ? BYTE_ORDER_MARK : ''), Buffer.from(bytes)]),
    headers: [`Content-Type: ${dice.of(isNdjson ? NDJSON_TYPES : JSON_TYPES)}`],
  }
}

function lines(dice: Dice, items: readonly (string | Buffer)[]): Buffer {
  const end = dice.of(['\n', '\n', '\r\n', '\n\n', ' \n'])
  const joined = joinedBy(end, items)
  return dice.chance(70) ? Buffer.concat([joined, Buffer.from(end)]) : joined
}

function array(dice: Dice, items: readonly (string | Buffer)[]): Buffer {
  const blank = dice.of(['', '', ' ', '\n', '\r\n\t'])
  const joined = joinedBy(`${blank},${blank}`, items)
  return Buffer.concat([Buffer.from(`${blank}[${blank}`), joined, Buffer.from(`${blank}]${blank}`)])
}

function joinedBy(separator: string, items: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(items.flatMap((item, index) => [Buffer.from(index === 0 ? '' : separator), Buffer.from(item)]))
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
  switch (dice.below(6)) {
    case 0:
      return good.subarray(0, dice.below(good.length))
    case 1: {
      // Behind the header, where nothing is left to chance: every flip is found by the checksum.
      const at = dice.between(10, good.length - 1)
      good[at] = (good[at] ?? 0) ^ (1 << dice.below(8))
      return good
    }
    case 2:
      return Buffer.concat([good, Buffer.from('garbage')])
    case 3:
      return Buffer.concat([good, Buffer.alloc(dice.between(1, 100)), Buffer.from('x')])
    case 4:
      return gzipSync(Buffer.alloc(dice.between(2, 8) * 1_000_000, '{"a":1}\n'), { level: 9 })
    default:
      return Buffer.concat([Buffer.from([0x1f, 0x8b]), dice.bytes(dice.below(100))])
  }
}

/** Frames a body by its length or in chunks, as HTTP/1.1 has it. */
export function framed(dice: Dice, { bytes, headers }: Body): Body {
  if (dice.chance(70)) return { bytes, headers: [...headers, `Content-Length: ${bytes.length}`] }
  const extension = dice.chance(10) ? ';name=value' : ''
  const trailer = dice.chance(10) ? 'X-Trailer: value\r\n' : ''
  return {
    bytes: Buffer.concat([chunks(bytes, dice.between(1, 5000), extension), Buffer.from(`0\r\n${trailer}\r\n`)]),
    headers: [...headers, 'Transfer-Encoding: chunked'],
  }
}

/** The last chunk, which is empty, is not there yet. No more than a hundred of them. */
export function chunks(bytes: Buffer, size: number, extension = ''): Buffer {
  const step = Math.max(size, Math.ceil(bytes.length / 100))
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) {
    const piece = bytes.subarray(at, at + step)
    pieces.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat(pieces)
}
