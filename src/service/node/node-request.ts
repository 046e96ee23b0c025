/** A request as `node:http` hands it over, in the form that the service takes. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Incoming } from '../incoming.ts'
import { Refusal } from '../problem-reply.ts'

/** In these nothing would be normalized: no dots, no doubled slashes, nothing but what a URL is usually made of. */
const PLAIN_TARGET = /^(?!.*%2e)\/(?:[\w~%-][\w.~%@-]*(?:\/[\w~%-][\w.~%@-]*)*)?(?:\?[\w.~%=&+-]*)?$/i
const HOST = /^(?:[\w.~%!$&'()*+,;=-]+|\[[\da-f:.]+\])(?::\d*)?$/i

/**
 * Throws a Refusal. `isContinueAwaited`: the client sends the body only when it is asked to. `isLast`: whether no further
 * request can be taken from the connection. `signalOf` is called only where somebody waits.
 */
export function incomingFrom(
  message: IncomingMessage,
  response: ServerResponse,
  isContinueAwaited: boolean,
  remoteAddress: string,
  signalOf: () => AbortSignal,
): Incoming & { readonly isLast: () => boolean } {
  const { method = '', url = '', httpVersion } = message
  // Node's parser also accepts 0.9 and 2.0, and reads them as if they were 1.0 and 1.1.
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw new Refusal('http-version-not-supported', `The request is an HTTP/${httpVersion} request.`)
  const hostHeader = hostOf(message)
  const { target, host = hostHeader } = parseTarget(url)
  const headers = new RawHeaders(message.rawHeaders)
  let isContinueSent = false
  return {
    method,
    target,
    host,
    headers,
    remoteAddress,
    get signal() {
      return signalOf()
    },
    // Nobody can tell whether the client will still send a body that it was not asked for.
    isLast: () => (isContinueAwaited && !isContinueSent) || isFollowedByDoubt(message, headers),
    readBody(take) {
      if (isContinueAwaited && !response.headersSent) response.writeContinue()
      isContinueSent = true
      return readBody(message, take)
    },
  }
}

/**
 * Whether one cannot be sure where the next request begins. Node's parser skips what comes behind an Upgrade in the same read,
 * be it half a request. And a proxy that speaks HTTP/1.0 knows no chunks.
 */
function isFollowedByDoubt({ httpVersion }: IncomingMessage, headers: RawHeaders): boolean {
  return headers.has('upgrade') || (httpVersion === '1.0' && headers.has('transfer-encoding'))
}

/**
 * Whether it is a GET that came whole, from a client that goes on with the connection. Its response does not tell that on Bun
 * before its head is made.
 */
export function isUsualGet({ method, complete, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || !complete || httpVersion !== '1.1') return false
  const connection = new RawHeaders(rawHeaders).get('connection')
  return connection === null || connection.toLowerCase() === 'keep-alive'
}

function readBody(message: IncomingMessage, take: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Uint8Array): void => {
      try {
        take(chunk)
      } catch (error) {
        // The rest is let pass, so that the connection can go on.
        message.off('data', onData).resume()
        reject(error)
      }
    }
    message.on('data', onData)
    message.once('end', resolve)
    message.once('error', reject)
    message.once('close', () => reject(new Error('The connection was closed.')))
  })
}

/** HTTP/1.1 asks for exactly one Host, HTTP/1.0 for none: the health checks of some load balancers come without. */
function hostOf({ rawHeaders, httpVersion }: IncomingMessage): string | null {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!isNamed(rawHeaders[at] ?? '', 'host')) continue
    if (host !== undefined) throw new Refusal('malformed-request', 'The request has more than one Host header.')
    host = rawHeaders[at + 1] ?? ''
  }
  if (host === undefined && httpVersion === '1.0') return null
  if (host === undefined) throw new Refusal('malformed-request', 'The request has no Host header.')
  if (!HOST.test(host)) throw new Refusal('malformed-request', 'The Host header is not the name of a host.')
  return host
}

interface Target {
  readonly target: string
  /** Where the target names one, it counts, and not the Host header. */
  readonly host?: string
}

/** Unusual ones go through the parser for URLs, so that they mean the same as in a `Request`. */
function parseTarget(url: string): Target {
  if (PLAIN_TARGET.test(url)) return { target: url }
  const isWhole = /^https?:\/\//i.test(url)
  const parsed = isWhole || url.startsWith('/') ? URL.parse(isWhole ? url : `http://localhost${url}`) : null
  if (parsed === null || parsed.username + parsed.password !== '' || /^[^?#]*\\/.test(url))
    throw new Refusal('malformed-request', 'The request target is not a path or a URL.')
  const target = parsed.pathname + parsed.search
  return isWhole ? { target, host: parsed.host } : { target }
}

/** Names and values by turns, as they came. Reading the few that are asked for is cheaper than sorting all of them. */
export class RawHeaders {
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
