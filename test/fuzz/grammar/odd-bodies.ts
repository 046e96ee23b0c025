/** Requests whose body is odd: what is in it, how it is packed or framed, or what the headers say about it. */

import { type Dice, words } from '../dice.ts'
import type { Message } from '../message.ts'
import { DUMP, EVENTS, LOG } from '../site.ts'
import { badlyPacked, bodyOf, chunks, framed, packed } from './bodies.ts'
import { BAD_IDEMPOTENCY_KEYS } from './header-lines.ts'
import { badItem, goodItem } from './items.ts'
import { bearer, ownHost, type Place, requestBytes } from './requests.ts'

const LENGTHS = [
  ...words(`-1 +1 0x10 1e3 1.0 abc 00005 4294967296 9007199254740993 5;x`),
  '',
  ' ',
  '0 ',
  '5, 5',
  '5, 6',
  '9'.repeat(30),
  '\0',
]

const CODINGS = [
  ...words(`chunked Chunked gzip identity chunkedx chunked;q=1 "chunked"`),
  'chunked, gzip',
  'gzip, chunked',
  'chunked, chunked',
  'x, chunked',
  '',
  ' chunked',
  'chun\0ked',
]

const BAD_CHUNKS = [
  'zz\r\n',
  '-1\r\nx\r\n',
  '0x5\r\nhello\r\n',
  '5\nhello\n',
  '5\r\nhellooo\r\n',
  'ffffffffffffffffff\r\n',
  '5 \r\nhello\r\n',
  '5;\r\nhello\r\n',
  '5;a="\r\n"\r\nhello\r\n',
  '\r\n\r\n',
  '0\r\n',
  '0\r\nX: y',
  '0\r\nContent-Length: 5\r\n\r\n',
  '00000\r\n\r\n',
  '1',
  'ffffffff\r\nx',
] as const

const BAD_TYPES = [
  ...words(`
    text/csv text/plain application/xml application/x-www-form-urlencoded json ; application/jsonx
  `),
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  '',
]

const BAD_ENCODINGS = ['br', 'deflate', 'gzip, gzip', 'zstd', 'gzip, identity', 'chunked'] as const

export function expectation(dice: Dice, place: Place): Message {
  const expected = dice.of([
    '100-continue',
    '100-Continue',
    'wonders',
    '',
    '200-ok',
    '100-continue, 100-continue',
    '\0',
  ])
  const isRefused = dice.chance(50)
  const body = framed(dice, bodyOf(dice, [goodItem(dice)]))
  const lines = [
    ownHost(dice, place),
    bearer(isRefused ? 'stranger' : 'writer'),
    `Expect: ${expected}`,
    ...body.headers,
  ]
  const sent = dice.chance(30) ? Buffer.alloc(0) : body.bytes
  return { bytes: requestBytes({ method: 'POST', target: `/${DUMP}`, lines, body: sent }), kind: 'odd' }
}

/** Content-Length and Transfer-Encoding contradict each other or what is sent. */
export function withFraming(dice: Dice, place: Place): Message {
  const body = bodyOf(dice, [goodItem(dice)])
  const { length } = body.bytes
  const right = `Content-Length: ${length}`
  const wrong = `Content-Length: ${dice.chance(50) ? dice.of(LENGTHS) : length + dice.between(-length, 100)}`
  const coding = `Transfer-Encoding: ${dice.of(CODINGS)}`
  const [framing, sent] = dice.of<[string[], Buffer]>([
    [[wrong], body.bytes],
    [[right, wrong], body.bytes],
    [[wrong, right], body.bytes],
    [[right, right], body.bytes],
    [[], body.bytes],
    [[coding], body.bytes],
    [[coding], Buffer.concat([chunks(body.bytes, 10), Buffer.from('0\r\n\r\n')])],
    [[coding, right], Buffer.concat([chunks(body.bytes, 10), Buffer.from('0\r\n\r\n')])],
    [['Transfer-Encoding: chunked', coding], Buffer.concat([chunks(body.bytes, 10), Buffer.from('0\r\n\r\n')])],
    [
      ['Transfer-Encoding: chunked'],
      Buffer.concat([chunks(body.bytes, 10), Buffer.from(dice.of(BAD_CHUNKS), 'latin1')]),
    ],
    [['Transfer-Encoding: chunked'], Buffer.from(dice.of(BAD_CHUNKS), 'latin1')],
  ])
  const lines = [ownHost(dice, place), bearer(dice.of(['writer', 'stranger'])), ...body.headers, ...framing]
  const method = dice.of(['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'PATCH'])
  return { bytes: requestBytes({ method, target: `/${DUMP}`, lines, body: sent }), kind: 'odd' }
}

/** Well framed, but an item is bad, or a header that describes the body. */
export function withBadBody(dice: Dice, place: Place): Message {
  const items = dice.times(dice.between(0, 3), () => goodItem(dice))
  const isBadItem = dice.chance(70)
  const body = bodyOf(dice, [...items, isBadItem ? badItem(dice) : goodItem(dice)])
  const [type = ''] = body.headers
  const headers = isBadItem
    ? [type]
    : dice.of<string[]>([
        [],
        [`Content-Type: ${dice.of(BAD_TYPES)}`],
        [type, `Content-Encoding: ${dice.of(BAD_ENCODINGS)}`],
        [type, `Idempotency-Key: ${dice.of(BAD_IDEMPOTENCY_KEYS)}`],
      ])
  const { bytes, headers: framing } = framed(dice, { bytes: body.bytes, headers })
  const lines = [ownHost(dice, place), bearer('writer'), ...framing]
  const [method, target] = dice.of([
    ['POST', `/${LOG}`],
    ['POST', `/${EVENTS}`],
    ['PUT', `/${EVENTS}/7`],
  ] as const)
  return {
    bytes: requestBytes({ method, target, lines, body: bytes }),
    kind: 'last',
    statuses: [400, 409, 413, 415],
  }
}

export function withBadGzip(dice: Dice, place: Place): Message {
  const body = bodyOf(dice, [goodItem(dice)])
  const bytes = badlyPacked(dice, body.bytes)
  const { bytes: sent, headers } = framed(dice, { bytes, headers: [...body.headers, 'Content-Encoding: gzip'] })
  const lines = [ownHost(dice, place), bearer('writer'), ...headers]
  return {
    bytes: requestBytes({ method: 'POST', target: `/${LOG}`, lines, body: sent }),
    kind: 'ordinary',
    // 201: a flipped bit in the padding at the end of the data changes nothing.
    statuses: [201, 400, 413],
  }
}

/** Just below or above the largest body or item. */
export function withLargeBody(dice: Dice, place: Place): Message {
  const { bodyBytes, itemBytes } = place.site
  const most = Math.min(bodyBytes, 400_000)
  const item = `{"a":"${'x'.repeat(itemBytes - 8 + dice.between(0, 20))}"}`
  const items = dice.chance(50)
    ? [item]
    : dice.times(Math.floor((most * dice.between(5, 15)) / 10 / 200), () => `{"a":"${'x'.repeat(190)}"}`)
  const plain = bodyOf(dice, items)
  const { bytes, headers } = framed(dice, dice.chance(50) ? packed(dice, plain) : plain)
  const lines = [ownHost(dice, place), bearer(dice.of(['writer', 'stranger'])), ...headers]
  return { bytes: requestBytes({ method: 'POST', target: `/${DUMP}`, lines, body: bytes }), kind: 'last' }
}
