/** Replies with their headers: strong tags, and 304 for a client that has the current one (D16). */

import { hash } from 'node:crypto'
import { matchesTag } from '../contract/etag.ts'
import type { Problem } from '../contract/problem.ts'
import type { Head } from '../store/store.ts'
import type { Incoming } from './incoming.ts'
import type { Encoding } from './negotiate.ts'
import type { RequestFacts } from './request-record.ts'

/** Is written to a socket as it is, or becomes a `Response`. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | null
  /** How many bytes before the body, in the same memory, are free for whoever sends it. Default 0. */
  readonly room?: number
  /** Called when the body has been sent: it must not be used afterwards. */
  readonly onSent?: () => void
  /** What the body says, where it is a problem. */
  readonly problem?: Problem
  /** About the request that it answers. */
  readonly facts?: RequestFacts
}

/** The reply to the request with these facts, with more headers: the same reply, from the cache, may go to many. */
export function identified(reply: Reply, facts: RequestFacts, more?: Readonly<Record<string, string>>): Reply {
  return { ...reply, headers: { ...reply.headers, 'X-Request-Id': facts.requestId, ...more }, facts }
}

export function responseOf({ status, headers, body }: Reply): Response {
  // The cast: a body must not be in memory that threads share, and no store returns such.
  return new Response(body as Uint8Array<ArrayBuffer> | string | null, { status, headers })
}

/** The same reply with more headers: replies can be shared by requests. */
export function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return headers === undefined ? reply : { ...reply, headers: { ...reply.headers, ...headers } }
}

/** What a cache may do with a reply: keep it, but for a time at most or revalidate it every time; `private`: not in a shared cache. */
export type Caching = `${'' | 'private, '}${'no-cache' | `max-age=${number}, immutable`}`

/** For what only some may read. */
export const PRIVATE: Caching = 'private, no-cache'
export const PUBLIC: Caching = 'no-cache'

export function cachingOf({ requiresToken }: { readonly requiresToken: boolean }, head: Head): Caching {
  return requiresToken || head.isPrivate ? PRIVATE : PUBLIC
}

/** For what never changes, and is sure to be there for so long. */
export function immutableFor(context: { readonly requiresToken: boolean }, head: Head, keptMs: number): Caching {
  const isPrivate = cachingOf(context, head) === PRIVATE
  return `${isPrivate ? 'private, ' : ''}max-age=${Math.max(0, Math.floor(keptMs / 1_000))}, immutable`
}

export const VARY = 'Accept, Accept-Encoding'

/** The headers of every body. */
export function contentHeaders(type: string, length: number): Record<string, string> {
  return { 'Content-Type': type, 'Content-Length': String(length), 'X-Content-Type-Options': 'nosniff' }
}

export function notModified(tag: string, caching: Caching): Reply {
  return { status: 304, headers: { ETag: tag, 'Cache-Control': caching, Vary: VARY }, body: null }
}

/** A body that a client may keep. */
export function found(
  body: Uint8Array,
  type: string,
  tag: string,
  caching: Caching,
  encoding: Encoding = 'identity',
): Reply {
  const headers = contentHeaders(type, body.length)
  headers['ETag'] = tag
  headers['Cache-Control'] = caching
  headers['Vary'] = VARY
  if (encoding === 'gzip') headers['Content-Encoding'] = 'gzip'
  return { status: 200, headers, body }
}

/** The same for a small body, with a tag made from its bytes; 304 where the client has it. */
export function foundByContent(request: Incoming, body: Uint8Array, type: string, caching: Caching): Reply {
  const tag = `"${hash('sha256', body, 'base64url')}"`
  const isKnown = matchesTag(request.headers.get('if-none-match'), tag)
  return isKnown ? notModified(tag, caching) : found(body, type, tag, caching)
}

/** The result of a write, or of a check, that no cache may keep. */
export function outcome(status: 200 | 201, value: object, headers: Record<string, string> = {}): Reply {
  // A string, not bytes: Node then sends it in one piece with the headers.
  const body = `${JSON.stringify(value)}\n`
  const own = { ...contentHeaders('application/json', Buffer.byteLength(body)), 'Cache-Control': 'no-store' }
  return { status, headers: { ...own, ...headers }, body }
}

/** Done, with nothing to show. */
export const DONE: Reply = { status: 204, headers: {}, body: null }
