/** An ordinary read, in Node's own form of a request. */

import type { IncomingMessage } from 'node:http'
import type { Incoming } from './incoming.ts'

/** Of these nothing would be normalized: no dots, no doubled slashes, nothing but what a URL is usually made of. */
const PLAIN_TARGET = /^(?!.*%2e)\/(?:[\w~%-][\w.~%-]*(?:\/[\w~%-][\w.~%-]*)*)?(?:\?[\w.~%=&+-]*)?$/i
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:]+\])(?::\d+)?$/

/**
 * A request without a body, read from Node's own form of it without making a `Request`, which costs more than the service
 * itself. Undefined for one that is out of the ordinary, whose URL wants to be parsed by the book.
 */
export function plainRequest({ method, url: target = '', rawHeaders }: IncomingMessage): Incoming | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  const headers = new RawHeaders(rawHeaders)
  const host = headers.get('host')
  if (host === null || !PLAIN_HOST.test(host) || !PLAIN_TARGET.test(target)) return undefined
  return { method, url: `http://${host}${target}`, headers, body: null, arrayBuffer: async () => new ArrayBuffer(0) }
}

/** Names and values by turns, as they came. Reading the few that are asked for is cheaper than sorting all of them. */
class RawHeaders {
  readonly #raw: readonly string[]

  constructor(raw: readonly string[]) {
    this.#raw = raw
  }

  /** As `Headers` does: several of one name are joined. The name is to be given in lower case. */
  get(name: string): string | null {
    let joined: string | null = null
    for (let i = 0; i < this.#raw.length; i += 2) {
      if (!isNamed(this.#raw[i] ?? '', name)) continue
      const value = (this.#raw[i + 1] ?? '').trim()
      joined = joined === null ? value : `${joined}, ${value}`
    }
    return joined
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }
}

function isNamed(given: string, name: string): boolean {
  return given.length === name.length && given.toLowerCase() === name
}
