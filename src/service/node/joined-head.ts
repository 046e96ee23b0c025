/**
 * The head of a reply, written into the free memory before its body: both go out in one write, and nothing is copied. Node and
 * Bun write them one after the other, which takes as long as all the rest of a page that is in the cache.
 */

import { KEEP_ALIVE_MS } from '../limits.ts'
import type { Reply } from '../reply.ts'

/** Behind these nothing else can be said, so no value can end a line. */
const SAFE_VALUE = /^[\t -~]*$/

const END = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(KEEP_ALIVE_MS / 1_000)}\r\n\r\n`

/**
 * Head and body, for a connection that stays open. Undefined where there is no room for the head. The memory must not be
 * in use: what was written there before is gone.
 */
export function joinHead({ status, headers, body, room = 0 }: Reply): Uint8Array | undefined {
  if (status !== 200 || room === 0 || !(body instanceof Uint8Array)) return undefined
  let head = 'HTTP/1.1 200 OK\r\n'
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? ''
    if (!SAFE_VALUE.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  head += `Date: ${dateNow()}\r\n${END}`
  if (head.length > room) return undefined
  const joined = Buffer.from(body.buffer, body.byteOffset - head.length, head.length + body.length)
  joined.write(head, 'latin1')
  return joined
}

let [dateSecond, date] = [0, '']

/** Made once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) [dateSecond, date] = [second, new Date(second * 1_000).toUTCString()]
  return date
}
