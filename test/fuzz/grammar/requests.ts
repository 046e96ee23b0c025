/** Requests that any client could send: one answer each, and mostly known which. */

import type { Dice } from '../dice.ts'
import type { Message } from '../message.ts'
import { EVENT_COUNT, EVENTS, LOG, SECRETS, type Site, TOKENS, VENUES } from '../site.ts'
import { type Body, bodyOf, framed, packed } from './bodies.ts'
import { BROWSER_LINE, ORDINARY_LINES } from './header-lines.ts'
import { goodItem } from './items.ts'
import { ordinaryTarget, type Target } from './targets.ts'

/** Where a request is to go. */
export interface Place {
  readonly site: Site
  readonly port: number
  /** Another one every time: by it an item of the log is found again. */
  readonly nextId: () => string
}

export interface RequestParts {
  readonly method?: string
  readonly target: string
  readonly version?: string
  /** Whole lines, without their ends. */
  readonly lines?: readonly string[]
  readonly body?: Buffer
}

/** A character up to U+00FF is that byte, so that a head can hold any. */
export function requestBytes({ method = 'GET', target, version = 'HTTP/1.1', lines = [], body }: RequestParts): Buffer {
  const head = [`${method} ${target} ${version}`, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)])
}

/** The server's own name, as it is known to itself. */
export function ownHost(dice: Dice, { port }: Place): string {
  return `Host: ${dice.of(['127.0.0.1', '127.0.0.1', 'localhost', '[::1]'])}:${port}`
}

export function bearer(name: 'writer' | 'reader' | 'stranger'): string {
  return `Authorization: Bearer ${TOKENS[name].token}`
}

const NO_BODY: Body = { bytes: Buffer.alloc(0), headers: [] }

export function ordinaryRead(dice: Dice, place: Place): Message {
  const target = ordinaryTarget(dice, place.site)
  const caller = dice.of([undefined, 'reader', 'writer'] as const)
  const method = dice.of(['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS'])
  // A body on a GET is passed over.
  const body = dice.chance(4) ? framed(dice, { bytes: dice.bytes(dice.below(300)), headers: [] }) : NO_BODY
  const lines = [
    ownHost(dice, place),
    ...dice.some(ORDINARY_LINES, 4),
    ...(dice.chance(8) ? [BROWSER_LINE] : []),
    ...(caller === undefined ? [] : [bearer(caller)]),
    ...body.headers,
  ]
  const { statuses, shows } = caller === undefined ? withoutToken(target, place.site) : target
  return {
    bytes: requestBytes({ method, target: target.text, lines, body: body.bytes }),
    // Who is slow to send a body that nobody wants is not waited for.
    kind: body === NO_BODY ? 'ordinary' : 'last',
    isHead: method === 'HEAD',
    statuses: method === 'OPTIONS' ? [204, 401, 404] : [...statuses, ...(statuses.includes(200) ? [304] : [])],
    ...(method === 'GET' && shows !== undefined && { shows }),
  }
}

/** What somebody without a token gets. */
function withoutToken({ text, statuses, shows }: Target, { requiresToken }: Site): Omit<Target, 'text'> {
  const isOpen = /\/-\/(health|problems|explorer)/.test(text)
  if (requiresToken && !isOpen) return { statuses: [401] }
  if (text.includes(`/${SECRETS}`)) return { statuses: [404] }
  return { statuses, ...(shows !== undefined && { shows }) }
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
  const plain = items === undefined ? NO_BODY : bodyOf(dice, items, method === 'PUT')
  const body = items === undefined ? NO_BODY : framed(dice, dice.chance(25) ? packed(dice, plain) : plain)
  return {
    bytes: requestBytes({
      method,
      target: (dice.chance(50) ? place.site.basePath : '') + path,
      lines: [
        ownHost(dice, place),
        bearer('writer'),
        ...lines,
        ...body.headers,
        ...(items !== undefined && dice.chance(5) ? ['Expect: 100-continue'] : []),
      ],
      body: body.bytes,
    }),
    kind: 'ordinary',
    statuses,
  }
}

/** A write that is taken, if the state of the collection allows it. */
export function ordinaryWrite(dice: Dice, place: Place): Message {
  const key = dice.between(1, EVENT_COUNT + 300)
  const path = `/${EVENTS}/${key}`
  const items = [goodItem(dice, `"id":${dice.of([`${key}`, `"${key}"`])}`)]
  switch (dice.below(10)) {
    case 0:
      return write(dice, place, { method: 'PUT', path, items, statuses: [200, 201] })
    case 1: {
      const lines = [dice.of(['If-Match: *', 'If-Match: "x"', 'If-None-Match: *', 'If-None-Match: W/"x"'])]
      return write(dice, place, { method: 'PUT', path, items, lines, statuses: [200, 201, 412] })
    }
    case 2:
      return write(dice, place, { method: 'DELETE', path, statuses: [204, 404] })
    case 3:
      return write(dice, place, { method: 'POST', path: `/${EVENTS}`, items, statuses: [201, 409] })
    case 4:
      return write(dice, place, {
        method: 'POST',
        path: `/${VENUES}`,
        items: ['{"name":"Hall"}'],
        statuses: [201, 409],
      })
    default:
      return appendToLog(dice, place)
  }
}

/** With `idempotencyKey` it can be sent twice, and is done once. */
export function appendToLog(dice: Dice, place: Place, idempotencyKey?: string): Message {
  const count = dice.chance(95) ? dice.between(1, 20) : dice.between(20, 200)
  const ids = dice.times(count, place.nextId)
  const lines = idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]
  const items = ids.map((id) => logItem(dice, id, place.site.itemBytes))
  return { ...write(dice, place, { method: 'POST', path: `/${LOG}`, items, lines, statuses: [201] }), appends: ids }
}

function logItem(dice: Dice, id: string, mostBytes: number): string {
  const item = goodItem(dice, `"fuzz":"${id}"`)
  return Buffer.byteLength(item) > mostBytes ? `{"fuzz":"${id}"}` : item
}
