/** The requests that writers send, as bytes made before the clock starts. */

import { readFileSync } from 'node:fs'
import { randomPages } from './random.ts'

export interface WriteRequest {
  readonly head: string | Uint8Array
  readonly body?: Uint8Array
}

/** How to make requests out of the items of an NDJSON file. */
export type WriteKind = 'append' | 'append-many' | 'change' | 'patch'

export interface RequestOptions {
  readonly kind: WriteKind
  readonly file: string
  /** The URL of the collection. */
  readonly url: string
  readonly token: string
  /** For `change`: so many of the changes were sent before. Default 0. */
  readonly skip?: number
}

/** Items that are appended one by one, before they begin anew: enough to be as different as any others. */
const ITEMS_ONE_BY_ONE = 2_000
export const ITEMS_A_REQUEST = 1_000

const LINE_FEED = 0x0a

export function* writeRequests(options: RequestOptions): Generator<WriteRequest> {
  const lines = linesOf(readFileSync(options.file))
  if (options.kind === 'append') yield* appends(options, lines.take(ITEMS_ONE_BY_ONE).toArray())
  else if (options.kind === 'append-many') yield* appendsOfMany(options, lines)
  else if (options.kind === 'change') yield* changes(options, lines.toArray())
  else yield* patches(options, lines.toArray())
}

/** One item each, without an end. */
function* appends(options: RequestOptions, lines: readonly Buffer[]): Generator<WriteRequest> {
  const requests = lines.map((line) => ({
    head: Buffer.concat([Buffer.from(headOf(options, 'POST', '', 'application/json', line.length)), line]),
  }))
  for (;;) yield* requests
}

/** The whole file, once. */
function* appendsOfMany(options: RequestOptions, lines: Generator<Buffer>): Generator<WriteRequest> {
  let taken: Buffer[] = []
  for (const line of lines) {
    taken.push(line)
    if (taken.length < ITEMS_A_REQUEST) continue
    yield ndjsonRequest(options, taken)
    taken = []
  }
  if (taken.length > 0) yield ndjsonRequest(options, taken)
}

function ndjsonRequest(options: RequestOptions, lines: readonly Buffer[]): WriteRequest {
  const body = joined(lines)
  return { head: headOf(options, 'POST', '', 'application/x-ndjson', body.length), body }
}

/** Replaces one item and deletes the next, in random order, each item once. */
function* changes(options: RequestOptions, lines: readonly Buffer[]): Generator<WriteRequest> {
  const order = randomPages(lines.length, lines.length, 5).slice(options.skip ?? 0)
  for (const [count, place] of order.entries()) {
    const line = lines[place - 1]?.toString() ?? ''
    const path = `/${/"id":(\d+)/.exec(line)?.[1]}`
    if (count % 2 === 1) yield { head: headOf(options, 'DELETE', path) }
    else {
      const item = line.replace(/"seats":\d+/, `"seats":${place}`)
      yield { head: headOf(options, 'PUT', path, 'application/json', item.length) + item }
    }
  }
}

/** Replaces many items at once, in random order, without an end. */
function* patches(options: RequestOptions, lines: readonly Buffer[]): Generator<WriteRequest> {
  for (let turn = 0; ; turn++) {
    const order = randomPages(lines.length, lines.length, turn)
    for (let at = 0; at + ITEMS_A_REQUEST <= order.length; at += ITEMS_A_REQUEST) {
      const puts = order.slice(at, at + ITEMS_A_REQUEST).map((place) => {
        const item = lines[place - 1]?.toString().replace(/"seats":\d+/, `"seats":${turn}`)
        return `{"op":"put","item":${item}}\n`
      })
      const body = Buffer.from(puts.join(''))
      yield { head: headOf(options, 'PATCH', '', 'application/x-ndjson', body.length), body }
    }
  }
}

function headOf({ url, token }: RequestOptions, method: string, path: string, type?: string, length?: number): string {
  const { pathname, host } = new URL(url)
  const lines = [`${method} ${pathname}${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`]
  if (type !== undefined) lines.push(`Content-Type: ${type}`, `Content-Length: ${length}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Without their line feeds. The bytes stay where they are. */
function* linesOf(file: Buffer): Generator<Buffer> {
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(LINE_FEED, start)
    yield file.subarray(start, end)
    start = end + 1
  }
}

/** Lines that lie one behind the other, with the line feeds between them. */
function joined(lines: readonly Buffer[]): Buffer {
  const [first, last] = [lines[0], lines.at(-1)]
  if (first === undefined || last === undefined) return Buffer.alloc(0)
  return Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset)
}
