/** Requests whose first line, headers or token are odd. */

import { type Dice, texts, words } from '../dice.ts'
import type { Message } from '../message.ts'
import { EVENTS, LOG, SECRETS, TOKENS, UNKNOWN_TOKEN } from '../site.ts'
import { bodyOf, framed, NO_BODY } from './bodies.ts'
import { goodItem } from './items.ts'
import { ownHost, type Place, request } from './requests.ts'
import { oddTarget, ordinaryTarget } from './targets.ts'

/** Any refusal will do. */
const REFUSED = [400, 401, 403, 404, 405, 408, 409, 411, 412, 413, 414, 415, 417, 421, 422, 428, 431, 501, 505]

const KNOWN_METHODS = words(`PATCH TRACE PROPFIND PURGE QUERY LOCK SEARCH M-SEARCH SOURCE UNBIND`)
const UNKNOWN_METHODS = [
  ...words(`get Get GETS G BREW PRI GET,POST "GET" __proto__ G\0T GET\t \xc3\x89`),
  ...['', ' GET', 'X'.repeat(100), 'X'.repeat(20_000)],
]
const VERSIONS = [
  ...words(
    `HTTP/1.0 HTTP/0.9 HTTP/2.0 HTTP/1.2 HTTP/1.1.1 HTTP/01.1 HTTP/ HTTPS/1.1 http/1.1 ICE/1.0 RTSP/1.0 HTTP/\0`,
  ),
  ...['', 'HTTP/1.1 '],
]
const PROTOCOLS = ['websocket', 'h2c', 'h2c, websocket', 'TLS/1.0', 'HTTP/2.0', '', 'x\0'] as const
const CONNECT_TARGETS = [...words(`a:1 example.com:443 127.0.0.1:80 [::1]:80 / * a : http://a/`), '']

/** Odd, but no end of a head, and nothing about a body. */
const ODD_LINES = [
  ...texts(`
    : no name | : | no colon | Name : blank before the colon | Na me: blank within | N\u00e4me: umlaut
    | X-Latin: \u00e9\u00ff | X-Control: a\u0001b | X-Nul: a\u0000b | X-Delete: \u007f
    | X-Bare-Carriage-Return: a\rb | X-Bare-Line-Feed: a\nb: c | X-Fold: a\r\n b | X-Fold: a\r\n\tb\r\n c
    | (comment): x | __proto__: x | constructor: x | Connection: close | Connection: close, keep-alive
    | Connection: \u0000 | Connection: host, authorization | Connection: upgrade | Keep-Alive: timeout=-1, max=0
    | Proxy-Connection: keep-alive | TE: trailers, deflate;q=0.5 | Trailer: Content-Length | Host: second.example
    | HTTP/1.1 200 OK | GET /events HTTP/1.1
  `),
  ' leading: blank',
  `X-Forwarded-For: ${'1.2.3.4, '.repeat(300)}`,
  `Accept: ${'a/b,'.repeat(2_000)}`,
  `Accept-Encoding: ${'gzip;q=0.1,'.repeat(800)}`,
  `If-None-Match: ${'"x",'.repeat(2_000)}`,
  ...[15_500, 16_400, 200_000].map((length) => `X-Long: ${'x'.repeat(length)}`),
]

/** Values of Host besides the server's own. */
const ODD_HOSTS = [
  ...words(`
    a evil.example evil.example:80 localhost LOCALHOST localhost. 127.0.0.1 127.0.0.1:1 127.0.0.1:99999
    127.0.0.1:-1 127.0.0.1: 127.1 2130706433 [::1] [::1]:80 [::1 ::1 [fe80::1%25eth0] user@127.0.0.1
    user:password@localhost 127.0.0.1/events 127.0.0.1?x 127.0.0.1#x a,127.0.0.1 xn-- %31 * ..
    127.0.0.1\\x \u00fc.example \u0000 \u0001
  `),
  ...['', ' ', 'a b', 'a, b', 'a'.repeat(300)],
]

/** Values of Authorization that let nobody in. */
function badAuthorization(dice: Dice): string {
  const { writer, expired, revoked } = TOKENS
  const good = writer.token
  const at = dice.below(good.length)
  const flipped = good.slice(0, at) + (good[at] === 'a' ? 'b' : 'a') + good.slice(at + 1)
  const tokens = [
    ...[expired.token, revoked.token, UNKNOWN_TOKEN, `${good}x`, good.slice(0, -1), good.toUpperCase(), flipped],
    ...[`${good}, Bearer ${good}`, `"${good}"`, '', '__proto__', "' OR 1=1 --", 'x'.repeat(4_000)],
    ...[`reams_${'%41'.repeat(43)}`, `reams_${'-'.repeat(43)}`],
  ]
  return dice.of([
    ...tokens.map((token) => `Bearer ${token}`),
    ...['Bearer', good, `Bearer=${good}`, `Bearer\t${good}x`, `Token ${good}`, `Digest username="${good}"`],
    `Basic ${Buffer.from(`writer:${good}`).toString('base64')}`,
  ])
}

export function withBadToken(dice: Dice, place: Place): Message {
  const isWrite = dice.chance(50)
  const bad = `Authorization: ${badAuthorization(dice)}`
  const twice = dice.chance(10) ? [`Authorization: Bearer ${TOKENS.writer.token}`] : []
  const lines = dice.chance(50) ? [bad, ...twice] : [...twice, bad]
  const body = isWrite ? framed(dice, bodyOf(dice, [goodItem(dice)])) : NO_BODY
  const target = `/${dice.of([LOG, EVENTS, SECRETS, 'nothing', ''])}`
  const method = isWrite ? dice.of(['POST', 'PUT', 'DELETE']) : 'GET'
  const kind = isWrite ? 'last' : 'ordinary'
  return { bytes: request(dice, place, { method, target, lines, body }), kind, statuses: [401] }
}

export function withMethod(dice: Dice, place: Place): Message {
  const method = dice.of(dice.chance(40) ? KNOWN_METHODS : UNKNOWN_METHODS)
  const { text: target } = ordinaryTarget(dice, place.site)
  return { bytes: request(dice, place, { method, target, who: 'writer' }), kind: 'last', statuses: REFUSED }
}

export function connect(dice: Dice, place: Place): Message {
  const bytes = dice.bytes(dice.chance(30) ? dice.below(2_000) : 0)
  const body = { bytes, headers: dice.chance(20) ? [`Content-Length: ${bytes.length}`] : [] }
  return { bytes: request(dice, place, { method: 'CONNECT', target: dice.of(CONNECT_TARGETS), body }), kind: 'odd' }
}

export function withTarget(dice: Dice, place: Place): Message {
  const method = dice.of(['GET', 'GET', 'GET', 'OPTIONS', 'DELETE'])
  const who = dice.of(['reader', 'writer'] as const)
  return { bytes: request(dice, place, { method, target: oddTarget(dice), who }), kind: 'last' }
}

export function withVersion(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const hosts = dice.chance(50) ? [ownHost(dice, place)] : []
  const lines = dice.chance(30) ? ['Connection: keep-alive'] : []
  return { bytes: request(dice, place, { target, version: dice.of(VERSIONS), hosts, lines }), kind: 'last' }
}

export function withHost(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const [odd, own] = [`Host: ${dice.of(ODD_HOSTS)}`, ownHost(dice, place)]
  const hosts = dice.of([[], [odd], [odd], [odd], [odd, own], [own, own]])
  return { bytes: request(dice, place, { target, hosts, who: 'reader' }), kind: 'last' }
}

export function withLines(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const many = (index: number) => `X-${index}: ${'y'.repeat(dice.below(20))}`
  const lines = dice.chance(5)
    ? dice.times(dice.between(50, 3_000), many)
    : [dice.of(ODD_LINES), ...dice.some(ODD_LINES, 2)]
  return { bytes: request(dice, place, { target, lines }), kind: 'last' }
}

export function upgrade(dice: Dice, place: Place): Message {
  const { text: target } = ordinaryTarget(dice, place.site)
  const lines = [
    `Upgrade: ${dice.of(PROTOCOLS)}`,
    `Connection: ${dice.of(['Upgrade', 'upgrade, HTTP2-Settings', 'keep-alive'])}`,
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
  ]
  const method = dice.of(['GET', 'GET', 'POST', 'OPTIONS'])
  const body = { bytes: dice.bytes(dice.chance(20) ? dice.below(200) : 0), headers: [] }
  return { bytes: request(dice, place, { method, target, lines, body }), kind: 'odd' }
}
