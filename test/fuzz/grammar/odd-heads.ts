/** Requests without a body whose first line or headers are odd. */

import { type Dice, words } from '../dice.ts'
import type { Message } from '../message.ts'
import { ODD_HOSTS, oddLines } from './header-lines.ts'
import { bearer, ownHost, type Place, requestBytes } from './requests.ts'
import { oddTarget, ordinaryTarget } from './targets.ts'

/** Any refusal will do. */
const REFUSED = [400, 401, 403, 404, 405, 408, 409, 411, 412, 413, 414, 415, 417, 421, 422, 428, 431, 501, 505]

const KNOWN_METHODS = words(`PATCH TRACE PROPFIND PURGE QUERY LOCK SEARCH M-SEARCH SOURCE UNBIND`)
const UNKNOWN_METHODS = [
  ...words(`get Get GETS G BREW PRI GET,POST "GET" __proto__`),
  '',
  'G\0T',
  'GET\t',
  ' GET',
  '\xc3\x89',
]

const VERSIONS = [
  ...words(`
    HTTP/1.0 HTTP/0.9 HTTP/2.0 HTTP/1.2 HTTP/1.1.1 HTTP/01.1 HTTP/ HTTPS/1.1 http/1.1 ICE/1.0 RTSP/1.0
  `),
  '',
  'HTTP/1.1 ',
  'HTTP/\0',
]

const PROTOCOLS = ['websocket', 'h2c', 'h2c, websocket', 'TLS/1.0', 'HTTP/2.0', '', 'x\0'] as const

const CONNECT_TARGETS = [...words(`a:1 example.com:443 127.0.0.1:80 [::1]:80 / * a : http://a/`), '']

export function withMethod(dice: Dice, place: Place): Message {
  const isKnown = dice.chance(40)
  const method = isKnown
    ? dice.of(KNOWN_METHODS)
    : dice.chance(10)
      ? 'X'.repeat(dice.of([100, 20_000]))
      : dice.of(UNKNOWN_METHODS)
  const { text: target } = ordinaryTarget(dice, place.site)
  const lines = [ownHost(dice, place), bearer('writer')]
  return { bytes: requestBytes({ method, target, lines }), kind: 'last', statuses: REFUSED }
}

export function connect(dice: Dice, place: Place): Message {
  const more = dice.chance(30) ? dice.bytes(dice.below(2_000)) : Buffer.alloc(0)
  const lines = [ownHost(dice, place), ...(dice.chance(20) ? [`Content-Length: ${more.length}`] : [])]
  return {
    bytes: requestBytes({ method: 'CONNECT', target: dice.of(CONNECT_TARGETS), lines, body: more }),
    kind: 'odd',
  }
}

export function withTarget(dice: Dice, place: Place): Message {
  const method = dice.of(['GET', 'GET', 'GET', 'OPTIONS', 'DELETE'])
  const lines = [ownHost(dice, place), bearer(dice.of(['reader', 'writer']))]
  return { bytes: requestBytes({ method, target: oddTarget(dice), lines }), kind: 'last' }
}

export function withVersion(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const host = dice.chance(50) ? [ownHost(dice, place)] : []
  const lines = [...host, ...(dice.chance(30) ? ['Connection: keep-alive'] : [])]
  return { bytes: requestBytes({ target, version: dice.of(VERSIONS), lines }), kind: 'last' }
}

export function withHost(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const one = `Host: ${dice.of(ODD_HOSTS)}`
  const lines = dice.of([
    [],
    [one],
    [one],
    [one],
    [one, ownHost(dice, place)],
    [ownHost(dice, place), ownHost(dice, place)],
  ])
  return { bytes: requestBytes({ target, lines: [...lines, bearer('reader')] }), kind: 'last' }
}

export function withLines(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  return { bytes: requestBytes({ target, lines: [ownHost(dice, place), ...oddLines(dice)] }), kind: 'last' }
}

export function upgrade(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const lines = [
    ownHost(dice, place),
    `Upgrade: ${dice.of(PROTOCOLS)}`,
    `Connection: ${dice.of(['Upgrade', 'upgrade, HTTP2-Settings', 'keep-alive'])}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
  ]
  const method = dice.of(['GET', 'GET', 'POST', 'OPTIONS'])
  return {
    bytes: requestBytes({ method, target, lines, body: dice.bytes(dice.chance(20) ? dice.below(200) : 0) }),
    kind: 'odd',
  }
}
