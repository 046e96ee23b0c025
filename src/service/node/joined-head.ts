/**
 * The head of a reply, written into the free memory before its body: both go out in one write, and nothing is copied. Node
 * makes the same head anew for every answer, and Bun writes it and the body one after the other.
 */

import { KEEP_ALIVE_MS } from '../limits.ts'
import type { Reply } from '../reply.ts'

export interface JoinedReply extends Reply {
  readonly body: Uint8Array
  /** Head and body. */
  readonly bytes: Uint8Array
}

/**
 * Bodies whose memory, with the head before it, a socket still reads. Until it has, everybody else gets that page in two writes.
 * For all servers of the process, because a service can have several.
 */
export const inUse = new WeakSet<Uint8Array>()

/** None of these can end a line. */
const SAFE_VALUE = /^[\t -~]*$/

const END = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1_000)}\r\n\r\n`

/** For a connection that stays open. Undefined where there is no room for the head. The next call for that body overwrites it. */
export function joinHead(reply: Reply): JoinedReply | undefined {
  const { status, headers, body, room = 0 } = reply
  if (status !== 200 || room === 0 || !(body instanceof Uint8Array) || inUse.has(body)) return undefined
  let head = 'HTTP/1.1 200 OK\r\n'
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? ''
    if (!SAFE_VALUE.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  head += `Date: ${dateNow()}\r\n${END}`
  if (head.length > room) return undefined
  const bytes = Buffer.from(body.buffer, body.byteOffset - head.length, head.length + body.length)
  bytes.write(head, 'latin1')
  return { ...reply, body, bytes }
}

let [dateSecond, date] = [0, '']

/** Made once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) [dateSecond, date] = [second, new Date(second * 1_000).toUTCString()]
  return date
}
