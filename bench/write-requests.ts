/** The requests that writers send, as bytes made before the clock starts. */

import { readFileSync } from 'node:fs'
import { eventKey } from './data.ts'
import { randomPages } from './random.ts'

export interface WriteRequest {
  readonly head: string | Uint8Array
  readonly body?: Uint8Array
}

/** How to make requests out of the items of an NDJSON file. */
export type WriteKind = 'append' | 'append-many' | 'change' | 'patch' | 'patch-mixed'

export interface RequestOptions {
  readonly kind: WriteKind
  readonly file: string
  /** The URL of the collection. */
  readonly url: string
  readonly token: string
  /** For `change` and `patch-mixed`: so many of the changes were sent before. Default 0. */
  readonly skip?: number
}

/** Items that are appended one by one, before they begin anew: enough to be as different as any others. */
const ITEMS_ONE_BY_ONE = 2_000
export const ITEMS_A_REQUEST = 1_000
/** Of so many changes of `patch-mixed` one is an append and one a delete; the others are replaces. */
const CHANGES_A_DELETE = 20

const LINE_FEED = 0x0a

export function* writeRequests(options: RequestOptions): Generator<WriteRequest> {
  const lines = linesOf(readFileSync(options.file))
  if (options.kind === 'append') yield* appends(options, lines.take(ITEMS_ONE_BY_ONE).toArray())
  else if (options.kind === 'append-many') yield* appendsOfMany(options, lines)
  else if (options.kind === 'change') yield* changes(options, lines.toArray())
  else if (options.kind === 'patch') yield* patches(options, lines.toArray())
  else yield* mixedPatches(options, lines.toArray())
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
  const order = orderOfChanges(lines, options)
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
      yield patchRequest(options, puts)
    }
  }
}

/** Replaces, appends and deletes many items at once, in random order, each item once. */
function* mixedPatches(options: RequestOptions, lines: readonly Buffer[]): Generator<WriteRequest> {
  const order = orderOfChanges(lines, options)
  for (let at = 0; at < order.length; at += ITEMS_A_REQUEST) {
    const changes = order.slice(at, at + ITEMS_A_REQUEST).map((place, index) => {
      const line = lines[place - 1]?.toString() ?? ''
      const turn = index % CHANGES_A_DELETE
      if (turn === 0) return `{"op":"delete","key":"${eventKey(place - 1)}"}\n`
      const item =
        turn === 1
          ? line.replace(/"id":\d+/, `"id":${eventKey(lines.length + place - 1)}`)
          : line.replace(/"seats":\d+/, `"seats":${place}`)
      return `{"op":"put","item":${item}}\n`
    })
    yield patchRequest(options, changes)
  }
}

/** The places of the items, counted from 1: one order for all loads, of which each takes what is behind the last one. */
function orderOfChanges(lines: readonly Buffer[], { skip = 0 }: RequestOptions): number[] {
  return randomPages(lines.length, lines.length, 5).slice(skip)
}

function patchRequest(options: RequestOptions, changes: readonly string[]): WriteRequest {
  const body = Buffer.from(changes.join(''))
  return { head: headOf(options, 'PATCH', '', 'application/x-ndjson', body.length), body }
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
