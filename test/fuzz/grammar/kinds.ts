/** All kinds of connections: each makes the messages that a connection is about. */

import { type Dice, words } from '../dice.ts'
import { LAST_TAG, type Message } from '../message.ts'
import { framed } from './bodies.ts'
import { goodItem, mutate } from './items.ts'
import { expectation, withBadBody, withBadChange, withBadGzip, withFraming, withLargeBody } from './odd-bodies.ts'
import {
  connect,
  upgrade,
  withBadToken,
  withHost,
  withLines,
  withMethod,
  withTarget,
  withVersion,
} from './odd-heads.ts'
import { appendToLog, ordinaryRead, ordinaryWrite, type Place, request, write } from './requests.ts'

export interface Kind {
  /** How often it comes, in proportion to the others. */
  readonly weight: number
  readonly make: (dice: Dice, place: Place) => Message | Message[]
  /** Each message is sent after the answer to the one before. */
  readonly isInTurns?: boolean
}

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
  change: { weight: 4, make: withBadChange },
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
  const items = [goodItem(dice, `"id":"${place.nextId()}"`)]
  const read: Message = {
    bytes: request(dice, place, { target: path, who: 'reader' }),
    kind: 'ordinary',
    statuses: [200, 404],
  }
  const steps = [
    makeCollection(dice, place, path),
    write(dice, place, { method: 'POST', path, items, statuses: [201, 400, 404, 409] }),
    read,
    write(dice, place, { method: 'DELETE', path, lines: [`If-Match: ${LAST_TAG}`], statuses: [204, 404, 412] }),
    read,
  ]
  return steps.filter(() => dice.chance(85))
}

const BAD_SETTINGS = [
  ...words(
    `{ [] null {"key":7} {"key":""} {"__proto__":{"key":"id"}} {"paginated":null} {"private":1} {"key":"\\ud800"} {"key":"a,"} {"key":"\\\\"}`,
  ),
  ...['', `{"key":"${'x'.repeat(257)}"}`],
]

function makeCollection(dice: Dice, place: Place, target: string): Message {
  const settings = { key: dice.of([null, 'id', 'id,n']), paginated: dice.chance(70), private: dice.chance(20) }
  const text = dice.chance(10) ? dice.of(BAD_SETTINGS) : JSON.stringify(settings)
  const body = framed(dice, { bytes: Buffer.from(text), headers: ['Content-Type: application/json'] })
  const bytes = request(dice, place, { method: 'PUT', target, who: 'writer', body })
  return { bytes, kind: 'ordinary', statuses: [200, 201, 400, 409] }
}

function mutant(dice: Dice, place: Place): Message {
  // It may write an item twice, or another item: the check of the log must not expect anything of it.
  const others = { ...place, nextId: () => `mutant-${place.nextId()}` }
  const { bytes } = dice.chance(50) ? ordinaryRead(dice, place) : ordinaryWrite(dice, others)
  return { bytes: mutate(dice, bytes), kind: 'odd' }
}

const CLIENT_HELLO = Buffer.concat([Buffer.from('16030100a5010000a10303', 'hex'), Buffer.alloc(161, 0x5a)])

function garbage(dice: Dice): Message {
  const bytes = dice.of([
    dice.bytes(dice.between(1, 3_000)),
    CLIENT_HELLO,
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00', 'latin1'),
    Buffer.from('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n'),
    Buffer.alloc(dice.between(1, 100_000), dice.of(['\r\n', '\n', '\0', 'A', ' ', 'GET '])),
    Buffer.from('GET /\r\n'),
    Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ])
  return { bytes, kind: 'odd' }
}
