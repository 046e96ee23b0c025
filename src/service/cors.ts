/** CORS: which pages of other origins may read from a browser. Writes from other origins stay refused (D19). */

import { type Incoming, isRead } from './incoming.ts'
import { type Reply, withHeaders } from './reply.ts'

/** What `corsOrigins` takes, in words that follow "expected". */
export const ORIGIN_RULE = 'an origin such as https://app.example.com, or * alone for every origin'

/** What a page may read beyond the few headers that every page may. */
const EXPOSED = 'ETag, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'
/** What a page may send beyond the same few. */
const ALLOWED = 'Authorization, If-None-Match, Prefer, X-Request-Id, traceparent'
/** How long a browser need not ask again. */
const MAX_AGE_SECONDS = 600

export interface Cors {
  /** The reply to a browser that asks whether a page may send a read; undefined for any other request, or if it may not. */
  preflight(request: Incoming): Reply | undefined
  /** The reply to a read with the headers that let a page read it, if it may. */
  complete(request: Incoming, reply: Reply): Reply
}

/** The origin as browsers write it; undefined if it is none. A slash at the end is allowed, a path is not. */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.includes('*')) return undefined
  return url.href === `${url.origin}/` ? url.origin : undefined
}

/** Undefined where no origin is allowed. Throws a TypeError for an invalid one. */
export function createCors(origins: readonly string[] = []): Cors | undefined {
  if (origins.length === 0) return undefined
  const isAny = origins.length === 1 && origins[0] === '*'
  const allowed = new Set(isAny ? [] : origins.map(originOf))
  /** The headers of a reply to that origin. With a list they depend on it, so caches have to know that. */
  const headersFor = (origin: string | null): Record<string, string> => {
    if (isAny) return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED }
    if (origin === null || !allowed.has(origin)) return {}
    return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED }
  }
  return {
    preflight(request) {
      if (request.method !== 'OPTIONS') return undefined
      const asked = request.headers.get('access-control-request-method')
      const own = headersFor(request.headers.get('origin'))['Access-Control-Allow-Origin']
      if (own === undefined || asked === null || !isRead({ method: asked })) return undefined
      const headers = {
        'Access-Control-Allow-Origin': own,
        'Access-Control-Allow-Methods': 'GET, HEAD',
        'Access-Control-Allow-Headers': ALLOWED,
        'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
        ...(!isAny && { Vary: 'Origin' }),
      }
      return { status: 204, headers, body: null }
    },
    complete(request, reply) {
      if (!isRead(request)) return reply
      if (isAny) return withHeaders(reply, headersFor(null))
      const { Vary: vary } = reply.headers
      const Vary = vary === undefined ? 'Origin' : `${vary}, Origin`
      return withHeaders(reply, { Vary, ...headersFor(request.headers.get('origin')) })
    },
  }
}

function originOf(text: string): string {
  const origin = parseOrigin(text)
  if (origin === undefined) throw new TypeError(`Invalid CORS origin "${text}": expected ${ORIGIN_RULE}.`)
  return origin
}
