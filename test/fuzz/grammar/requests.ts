/** Requests that any client could send: one answer each, and mostly known which. */

import { type Dice, texts } from '../dice.ts'
import type { Message } from '../message.ts'
import { EVENT_COUNT, EVENTS, LOG, SECRETS, type Site, TOKENS, VENUES } from '../site.ts'
import { type Body, bodyOf, framed, NO_BODY, packed } from './bodies.ts'
import { goodItem } from './items.ts'
import { ordinaryTarget, type Target } from './targets.ts'

/** Where a request is to go. */
export interface Place {
  readonly site: Site
  readonly port: number
  /** Another one every time: by it an item of the log is found again. */
  readonly nextId: () => string
}

interface RequestParts {
  readonly method?: string
  readonly target: string
  readonly version?: string
  /** Whose token it has. Default: none. */
  readonly who?: 'writer' | 'reader' | 'stranger' | undefined
  /** Whole lines, without their ends, that follow the token. */
  readonly lines?: readonly string[]
  readonly body?: Body
  /** Default: the server's own name, as it is known to itself. */
  readonly hosts?: readonly string[]
}

/** The bytes of a request. A character of the head up to U+00FF is that byte, so that a head can hold any. */
export function request(dice: Dice, place: Place, parts: RequestParts): Buffer {
  const { method = 'GET', target, version = 'HTTP/1.1', who, lines = [], body = NO_BODY } = parts
  const hosts = parts.hosts ?? [ownHost(dice, place)]
  const token = who === undefined ? [] : [`Authorization: Bearer ${TOKENS[who].token}`]
  const head = [`${method} ${target} ${version}`, ...hosts, ...token, ...lines, ...body.headers, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), body.bytes])
}

export function ownHost(dice: Dice, { port }: Place): string {
  return `Host: ${dice.of(['127.0.0.1', '127.0.0.1', 'localhost', '[::1]'])}:${port}`
}

/** Any of these can stand in any read: they change nothing but the form of an answer. */
const ORDINARY_LINES = texts(`
  Accept: application/json | Accept: application/hal+json, application/json;q=0.5 | Accept: */*
  | Accept: text/html, image/gif, */*; q=.2 | Accept: | Accept: ;;;,,q= | Accept-Encoding: gzip
  | Accept-Encoding: gzip, deflate, br | Accept-Encoding: identity;q=0, *;q=0
  | Accept-Encoding: gzip;q=1e9, x-gzip;q=-1 | Accept-Language: de | Range: bytes=0-10 | If-Range: "x"
  | If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT | If-None-Match: "x" | If-None-Match: W/"x", "y"
  | If-None-Match: " | If-None-Match: ,,, | If-Match: "x" | Connection: keep-alive | Connection: Keep-Alive, x-thing
  | X-Forwarded-Host: evil.example | Forwarded: host=evil.example;proto=javascript | Cookie: a=b; c=d
  | User-Agent: fuzz | X-Empty: | X-Blanks:   \t  value \t | X-Long: ${'x'.repeat(2_000)} | x-lower:value
  | Sec-Fetch-Mode: navigate
`)

/** What a browser sends that navigates. */
const BROWSER_LINE = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

export function ordinaryRead(dice: Dice, place: Place): Message {
  const target = ordinaryTarget(dice, place.site)
  const who = dice.of([undefined, 'reader', 'writer'] as const)
  const method = dice.of(['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS'])
  // A body on a GET is passed over.
  const body = dice.chance(4) ? framed(dice, { bytes: dice.bytes(dice.below(300)), headers: [] }) : NO_BODY
  const lines = [...dice.some(ORDINARY_LINES, 4), ...(dice.chance(8) ? [BROWSER_LINE] : [])]
  const { statuses, shows } = who === undefined ? withoutToken(target, place.site) : target
  return {
    bytes: request(dice, place, { method, target: target.text, who, lines, body }),
    // Who is slow to send a body that nobody wants is not waited for.
    kind: body === NO_BODY ? 'ordinary' : 'last',
    isHead: method === 'HEAD',
    statuses: method === 'OPTIONS' ? [204, 401, 404] : [...statuses, ...(statuses.includes(200) ? [304] : [])],
    ...(method === 'GET' && shows !== undefined && { shows }),
  }
}

/** What somebody without a token gets. */
function withoutToken(target: Target, { requiresToken }: Site): Omit<Target, 'text'> {
  const isOpen = /\/-\/(health|problems|explorer)/.test(target.text)
  if (requiresToken && !isOpen) return { statuses: [401] }
  return target.text.includes(`/${SECRETS}`) ? { statuses: [404] } : target
}

interface WriteParts {
  readonly method: string
  readonly path: string
  readonly items?: readonly string[]
  readonly statuses: readonly number[]
  readonly lines?: readonly string[]
}

/** A request with the writer's token and a body in any form that is taken. */
export function write(dice: Dice, place: Place, { method, path, items, statuses, lines = [] }: WriteParts): Message {
  const plain = items === undefined ? NO_BODY : bodyOf(dice, items, method === 'PUT', method === 'PATCH' || undefined)
  const body = items === undefined ? NO_BODY : framed(dice, dice.chance(25) ? packed(dice, plain) : plain)
  const target = (dice.chance(50) ? place.site.basePath : '') + path
  const expectation = items !== undefined && dice.chance(5) ? ['Expect: 100-continue'] : []
  const bytes = request(dice, place, { method, target, who: 'writer', lines: [...lines, ...expectation], body })
  return { bytes, kind: 'ordinary', statuses }
}

/** A write that is taken, if the state of the collection allows it. */
export function ordinaryWrite(dice: Dice, place: Place): Message {
  if (dice.chance(50)) return appendToLog(dice, place)
  const key = dice.between(1, EVENT_COUNT + 300)
  const path = `/${EVENTS}/${key}`
  const items = [goodItem(dice, `"id":${dice.of([`${key}`, `"${key}"`])}`)]
  const lines = [dice.of(['If-Match: *', 'If-Match: "x"', 'If-None-Match: *', 'If-None-Match: W/"x"'])]
  const parts = dice.of<WriteParts>([
    { method: 'PUT', path, items, statuses: [200, 201] },
    { method: 'PUT', path, items, lines, statuses: [200, 201, 412] },
    { method: 'DELETE', path, statuses: [204, 404] },
    { method: 'PATCH', path: `/${EVENTS}`, items: items.map(putLine), statuses: [200] },
    { method: 'PATCH', path: `/${EVENTS}`, items: [deleteLine(key)], statuses: [200, 409] },
    {
      method: 'PATCH',
      path: `/${EVENTS}?missing=skip`,
      items: [deleteLine(key), deleteLine(key + 1), ...items.map(putLine), deleteLine(key)],
      statuses: [200],
    },
    { method: 'POST', path: `/${EVENTS}`, items, statuses: [201, 409] },
    { method: 'POST', path: `/${VENUES}`, items: ['{"name":"Hall"}'], statuses: [201, 409] },
  ])
  return write(dice, place, parts)
}

const putLine = (item: string): string => `{"op":"put","item":${item}}`
const deleteLine = (key: number): string => `{"op":"delete","key":"${key}"}`

/** With `idempotencyKey` it can be sent twice, and is done once. */
export function appendToLog(dice: Dice, place: Place, idempotencyKey?: string): Message {
  const count = dice.chance(95) ? dice.between(1, 20) : dice.between(20, 200)
  const ids = dice.times(count, place.nextId)
  const lines = idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]
  const items = ids.map((id) => logItem(dice, id, place.site.itemBytes))
  const parts: WriteParts =
    idempotencyKey === undefined && dice.chance(20)
      ? { method: 'PATCH', path: `/${LOG}`, items: items.map(putLine), statuses: [200] }
      : { method: 'POST', path: `/${LOG}`, items, lines, statuses: [201] }
  return { ...write(dice, place, parts), appends: ids }
}

function logItem(dice: Dice, id: string, mostBytes: number): string {
  const item = goodItem(dice, `"fuzz":"${id}"`)
  return Buffer.byteLength(item) > mostBytes ? `{"fuzz":"${id}"}` : item
}
