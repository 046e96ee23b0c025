/** Requests whose body is odd: what is in it, how it is packed or framed, or what the headers say about it. */

import { type Dice, texts, words } from '../dice.ts'
import type { Message } from '../message.ts'
import { DUMP, EVENTS, LOG } from '../site.ts'
import { badlyPacked, bodyOf, chunks, framed, packed } from './bodies.ts'
import { badItem, goodItem } from './items.ts'
import { type Place, request } from './requests.ts'

const LENGTHS = [
  ...words(`-1 +1 0x10 1e3 1.0 abc 00005 4294967296 9007199254740993 5;x ${'9'.repeat(30)} \0`),
  ...['', ' ', '0 ', '5, 5', '5, 6'],
]
const CODINGS = [
  ...words(`chunked Chunked gzip identity chunkedx chunked;q=1 "chunked" chun\0ked`),
  ...['chunked, gzip', 'gzip, chunked', 'chunked, chunked', 'x, chunked', '', ' chunked'],
]
const BAD_CHUNKS = [
  ...['zz\r\n', '-1\r\nx\r\n', '0x5\r\nhello\r\n', '5\nhello\n', '5\r\nhellooo\r\n', 'ffffffffffffffffff\r\n'],
  ...['5 \r\nhello\r\n', '5;\r\nhello\r\n', '5;a="\r\n"\r\nhello\r\n', '\r\n\r\n', '0\r\n', '0\r\nX: y'],
  ...['0\r\nContent-Length: 5\r\n\r\n', '00000\r\n\r\n', '1', 'ffffffff\r\nx'],
]
const BAD_TYPES = [
  ...words(`text/csv text/plain application/xml application/x-www-form-urlencoded json ; application/jsonx`),
  ...['multipart/form-data; boundary=x', 'application/json; charset=utf-16', ''],
]
const BAD_ENCODINGS = ['br', 'deflate', 'gzip, gzip', 'zstd', 'gzip, identity', 'chunked'] as const
const BAD_IDEMPOTENCY_KEYS = ['', 'a b', 'é', 'x'.repeat(256), 'a\tb', '\u0001'] as const
const EXPECTATIONS = [...texts(`100-continue | 100-Continue | wonders | 200-ok | 100-continue, 100-continue | \0`), '']

/** JSON objects that are no changes, or that no collection takes. */
const BAD_CHANGES = texts(`
  {"op":"put"} | {"op":"delete"} | {"op":"reset"} | {"op":null,"item":{}} | {"op":"put","item":[]} | {"op":"put","item":7}
  | {"op":"put","item":{"id":1},"item":{"id":1}} | {"op":"put","key":"x","item":{"id":1}} | {"op":"put","item":{"id":1.5}}
  | {"op":"put","key":7,"item":{"id":7}} | {"op":"delete","key":7} | {"op":"delete","key":"\\ud800"} | {"item":{"id":1}}
  | {"op":"put","item":{}} | {"__proto__":{"op":"delete","key":"7"}} | {"op":"delete","key":"7"}{}
`)

export function expectation(dice: Dice, place: Place): Message {
  const who = dice.of(['stranger', 'writer'] as const)
  const body = framed(dice, bodyOf(dice, [goodItem(dice)]))
  const sent = dice.chance(30) ? { ...body, bytes: Buffer.alloc(0) } : body
  const lines = [`Expect: ${dice.of(EXPECTATIONS)}`]
  return { bytes: request(dice, place, { method: 'POST', target: `/${DUMP}`, who, lines, body: sent }), kind: 'odd' }
}

/** Content-Length and Transfer-Encoding contradict each other or what is sent. */
export function withFraming(dice: Dice, place: Place): Message {
  const { bytes: plain, headers } = bodyOf(dice, [goodItem(dice)])
  const { length } = plain
  const right = `Content-Length: ${length}`
  const wrong = `Content-Length: ${dice.chance(50) ? dice.of(LENGTHS) : length + dice.between(-length, 100)}`
  const chunked = 'Transfer-Encoding: chunked'
  const coding = `Transfer-Encoding: ${dice.of(CODINGS)}`
  const bad = dice.of(BAD_CHUNKS)
  const [framing, bytes] = dice.of<[string[], Buffer]>([
    ...[[wrong], [right, wrong], [wrong, right], [right, right], [], [coding]].map((each) => [each, plain] as const),
    ...[[coding], [coding, right], [chunked, coding]].map((each) => [each, chunks(plain, {})] as const),
    [[chunked], chunks(plain, { end: bad })],
    [[chunked], Buffer.from(bad, 'latin1')],
  ] as [string[], Buffer][])
  const who = dice.of(['writer', 'stranger'] as const)
  const method = dice.of(['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'PATCH'])
  const body = { bytes, headers: [...headers, ...framing] }
  return { bytes: request(dice, place, { method, target: `/${DUMP}`, who, body }), kind: 'odd' }
}

/** Well framed, but an item is bad, or a header that describes the body. */
export function withBadBody(dice: Dice, place: Place): Message {
  const items = dice.times(dice.between(0, 3), () => goodItem(dice))
  const isBadItem = dice.chance(70)
  const { bytes, headers: good } = bodyOf(dice, [...items, isBadItem ? badItem(dice) : goodItem(dice)])
  const bad = dice.of<string[]>([
    [],
    [`Content-Type: ${dice.of(BAD_TYPES)}`],
    [...good, `Content-Encoding: ${dice.of(BAD_ENCODINGS)}`],
    [...good, `Idempotency-Key: ${dice.of(BAD_IDEMPOTENCY_KEYS)}`],
  ])
  const body = framed(dice, { bytes, headers: isBadItem ? good : bad })
  const targets = [`POST /${LOG}`, `POST /${EVENTS}`, `PUT /${EVENTS}/7`, `PATCH /${EVENTS}`]
  const [method = '', target = ''] = dice.of(targets).split(' ')
  const whole = request(dice, place, { method, target, who: 'writer', body })
  return { bytes: whole, kind: 'last', statuses: [400, 409, 413, 415] }
}

/** A change that cannot be made, behind others that can. */
export function withBadChange(dice: Dice, place: Place): Message {
  const good = dice.times(dice.between(0, 3), () => `{"op":"put","item":${goodItem(dice, '"id":"never"')}}`)
  const body = framed(dice, bodyOf(dice, [...good, dice.of(BAD_CHANGES)], false, true))
  const whole = request(dice, place, { method: 'PATCH', target: `/${EVENTS}`, who: 'writer', body })
  return { bytes: whole, kind: 'last', statuses: [400, 409] }
}

export function withBadGzip(dice: Dice, place: Place): Message {
  const { bytes, headers } = bodyOf(dice, [goodItem(dice)])
  const body = framed(dice, { bytes: badlyPacked(dice, bytes), headers: [...headers, 'Content-Encoding: gzip'] })
  const whole = request(dice, place, { method: 'POST', target: `/${LOG}`, who: 'writer', body })
  // 201: a flipped bit in the padding at the end of the data changes nothing.
  return { bytes: whole, kind: 'ordinary', statuses: [201, 400, 413] }
}

/** Just below or above the largest body or item. */
export function withLargeBody(dice: Dice, place: Place): Message {
  const { bodyBytes, itemBytes } = place.site
  const most = Math.min(bodyBytes, 400_000)
  const items = dice.chance(50)
    ? [`{"a":"${'x'.repeat(itemBytes - 8 + dice.between(0, 20))}"}`]
    : dice.times(Math.floor((most * dice.between(5, 15)) / 10 / 200), () => `{"a":"${'x'.repeat(190)}"}`)
  const plain = bodyOf(dice, items)
  const body = framed(dice, dice.chance(50) ? packed(dice, plain) : plain)
  const who = dice.of(['writer', 'stranger'] as const)
  return { bytes: request(dice, place, { method: 'POST', target: `/${DUMP}`, who, body }), kind: 'last' }
}
