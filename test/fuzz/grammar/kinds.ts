/** All kinds of connections: each makes the messages that a connection is about. */

import { type Dice, words } from '../dice.ts'
import { LAST_TAG, type Message } from '../message.ts'
import { EVENTS, LOG, SECRETS, TOKENS } from '../site.ts'
import { bodyOf, framed } from './bodies.ts'
import { badAuthorization } from './header-lines.ts'
import { goodItem } from './items.ts'
import { mutate } from './mutate.ts'
import { expectation, withBadBody, withBadGzip, withFraming, withLargeBody } from './odd-bodies.ts'
import { connect, upgrade, withHost, withLines, withMethod, withTarget, withVersion } from './odd-heads.ts'
import {
  appendToLog,
  bearer,
  ordinaryRead,
  ordinaryWrite,
  ownHost,
  type Place,
  requestBytes,
  write,
} from './requests.ts'

export interface Kind {
  /** How often it comes, in proportion to the others. */
  readonly weight: number
  readonly make: (dice: Dice, place: Place) => Message | Message[]
  /** Each message is sent after the answer to the one before. */
  readonly isInTurns?: true
}

const BAD_SETTINGS = [
  ...words(`
    { [] null {"key":7} {"key":""} {"__proto__":{"key":"id"}} {"paginated":null} {"private":1}
  `),
  '',
  '{"key":"\\ud800"}',
  `{"key":"${'x'.repeat(257)}"}`,
]

const CLIENT_HELLO = Buffer.concat([Buffer.from('16030100a5010000a10303', 'hex'), Buffer.alloc(161, 0x5a)])
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00', 'latin1')
const PROXY_LINE = Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n')

export const KINDS: Readonly<Record<string, Kind>> = {
  read: { weight: 12, make: ordinaryRead },
  write: { weight: 12, make: ordinaryWrite },
  'same-write-twice': { weight: 4, make: sameWriteTwice },
  lifetime: { weight: 4, make: lifetimeOfCollection, isInTurns: true },
  method: { weight: 5, make: withMethod },
  connect: { weight: 5, make: connect },
  target: { weight: 10, make: withTarget },
  version: { weight: 4, make: withVersion },
  host: { weight: 4, make: withHost },
  header: { weight: 8, make: withLines },
  upgrade: { weight: 4, make: upgrade },
  expect: { weight: 4, make: expectation },
  authorization: { weight: 6, make: withBadToken },
  framing: { weight: 12, make: withFraming },
  body: { weight: 8, make: withBadBody },
  gzip: { weight: 6, make: withBadGzip },
  large: { weight: 1, make: withLargeBody },
  mutant: { weight: 14, make: mutant },
  garbage: { weight: 4, make: garbage },
}

function sameWriteTwice(dice: Dice, place: Place): Message[] {
  const key = place.nextId()
  const first = appendToLog(dice, place, key)
  if (dice.chance(70)) return dice.times(dice.between(2, 5), () => first)
  const { bytes } = appendToLog(dice, place, key)
  return [first, { bytes, kind: 'ordinary', statuses: [422] }]
}

/** Creates, fills, reads and drops a collection, while other connections do the same with the same name. */
function lifetimeOfCollection(dice: Dice, place: Place): Message[] {
  const path = `/temporary-${dice.below(3)}`
  const steps: Message[] = [
    { ...makeCollection(dice, place, path), statuses: [200, 201, 400, 409] },
    write(dice, place, {
      method: 'POST',
      path,
      items: [goodItem(dice, `"id":"${place.nextId()}"`)],
      statuses: [201, 400, 404, 409],
    }),
    { ...read(dice, place, path), statuses: [200, 404] },
    write(dice, place, { method: 'DELETE', path, lines: [`If-Match: ${LAST_TAG}`], statuses: [204, 404, 412] }),
    { ...read(dice, place, path), statuses: [200, 404] },
  ]
  return steps.filter(() => dice.chance(85))
}

function makeCollection(dice: Dice, place: Place, target: string): Message {
  const settings = { key: dice.of([null, 'id']), paginated: dice.chance(70), private: dice.chance(20) }
  const text = dice.chance(10) ? dice.of(BAD_SETTINGS) : JSON.stringify(settings)
  const { bytes, headers } = framed(dice, { bytes: Buffer.from(text), headers: ['Content-Type: application/json'] })
  const lines = [ownHost(dice, place), bearer('writer'), ...headers]
  return { bytes: requestBytes({ method: 'PUT', target, lines, body: bytes }), kind: 'ordinary' }
}

function read(dice: Dice, place: Place, target: string): Message {
  return { bytes: requestBytes({ target, lines: [ownHost(dice, place), bearer('reader')] }), kind: 'ordinary' }
}

function withBadToken(dice: Dice, place: Place): Message {
  const isWrite = dice.chance(50)
  const who = `Authorization: ${badAuthorization(dice)}`
  const twice = dice.chance(10) ? [`Authorization: Bearer ${TOKENS.writer.token}`] : []
  const body = isWrite ? framed(dice, bodyOf(dice, [goodItem(dice)])) : { bytes: Buffer.alloc(0), headers: [] }
  const lines = [ownHost(dice, place), ...(dice.chance(50) ? [who, ...twice] : [...twice, who]), ...body.headers]
  const target = `/${dice.of([LOG, EVENTS, SECRETS, 'nothing', ''])}`
  const method = isWrite ? dice.of(['POST', 'PUT', 'DELETE']) : 'GET'
  const kind = isWrite ? 'last' : 'ordinary'
  return { bytes: requestBytes({ method, target, lines, body: body.bytes }), kind, statuses: [401] }
}

function mutant(dice: Dice, place: Place): Message {
  const { bytes } = dice.chance(50) ? ordinaryRead(dice, place) : ordinaryWrite(dice, mutantPlace(place))
  return { bytes: mutate(dice, bytes), kind: 'odd' }
}

/** A mutant may write an item twice, or another item: the check of the log must not expect anything of it. */
function mutantPlace(place: Place): Place {
  return { ...place, nextId: () => `mutant-${place.nextId()}` }
}

function garbage(dice: Dice): Message {
  const random = dice.bytes(dice.between(1, 3_000))
  const bytes = dice.of([
    random,
    CLIENT_HELLO,
    HTTP2_PREFACE,
    PROXY_LINE,
    Buffer.alloc(dice.between(1, 100_000), dice.of(['\r\n', '\n', '\0', 'A', ' ', 'GET '])),
    Buffer.from('GET /\r\n'),
    Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ])
  return { bytes, kind: 'odd' }
}
