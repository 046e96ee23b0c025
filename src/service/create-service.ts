/** The service as one function from a request to its answer, ready to be mounted in any server that speaks `fetch`. */

import { Hono } from 'hono'
import { normalizeBaseUrl } from '../contract/link.ts'
import type { Store } from '../store/store.ts'
import { CHALLENGE, findCaller } from './access.ts'
import { basePathOf, createBaseUrlOf } from './base-url.ts'
import { createBodyMemory } from './body-memory.ts'
import type { Call } from './call.ts'
import { failure } from './failure.ts'
import { createGzipSplice } from './gzip-splice.ts'
import { BODIES_AT_ONCE, DEFAULT_LIMITS, type Limits } from './limits.ts'
import { pathNotFound } from './not-found.ts'
import { problemResponse, quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'
import { routedPath } from './request-url.ts'
import { ROUTES, type Route } from './routes.ts'
import { refusalOf } from './store-refusal.ts'

export interface ServiceOptions {
  /** Where the collections are. The service does not close it. */
  readonly store: Store
  /** What every link begins with; may have a path. Default: http://127.0.0.1, with `loopbackPort` or 8080. */
  readonly baseUrl?: string
  /**
   * Set only when the service listens on loopback, at this port, and was given no base URL: then `localhost`,
   * `127.0.0.1` or `[::1]` stands in the links, as the request names it. Default: no header reaches a link.
   */
  readonly loopbackPort?: number
  /** Answer only those with a token, but for `/-/health` and `/-/problems/`. Default: public collections are open to all. */
  readonly requireToken?: boolean
  /** What one request can send at most. Default: DEFAULT_LIMITS. */
  readonly limits?: Partial<Limits>
  /** Told of every error behind a 500 or 503, which the answer does not show. Default: its stack goes to stderr. */
  readonly onError?: (error: unknown, request: Request) => void
}

export interface Service {
  readonly fetch: (request: Request) => Response | Promise<Response>
}

export function createService(options: ServiceOptions): Service {
  const { store, requireToken: requiresToken = false, onError = logError } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const baseUrl = normalizeBaseUrl(options.baseUrl ?? `http://127.0.0.1:${options.loopbackPort ?? 8080}`)
  const basePath = basePathOf(baseUrl)
  const baseUrlOf = createBaseUrlOf(baseUrl, options.loopbackPort)
  const spliceGzip = createGzipSplice()
  const shareOfBodies = createBodyMemory(limits.bodyBytes * BODIES_AT_ONCE)

  const app = new Hono({ getPath: ({ url }) => routedPath(url, basePath) })
  const answerCaller = async (request: Request, path: string, isOpen: boolean, reply: (call: Call) => Answer) => {
    const baseUrl = baseUrlOf(request)
    const caller = await findCaller(request, store)
    if (caller === undefined) throw new Refusal('unauthorized', 'The token is not valid.', CHALLENGE)
    if (requiresToken && !isOpen && !caller.isKnown) throw new Refusal('unauthorized', 'There is no token.', CHALLENGE)
    using bodyShare = shareOfBodies()
    return await reply({ request, path, baseUrl, store, caller, requiresToken, limits, bodyShare, spliceGzip, onError })
  }
  for (const route of ROUTES)
    app.all(route.path, ({ req }) =>
      answerCaller(req.raw, req.path, route.isOpen ?? false, (call) => answer(route, call)),
    )
  app.notFound(({ req }) => answerCaller(req.raw, req.path, false, pathNotFound))
  app.onError((error, { req }) => {
    const baseUrl = baseUrlOf(req.raw)
    const refusal = refusalOf(error)
    if (refusal instanceof Refusal) return problemResponse(baseUrl, refusal.problem, refusal.message, refusal.options)
    onError(error, req.raw)
    return failure(baseUrl, error)
  })
  return { fetch: (request) => app.fetch(request) }
}

type Answer = Response | Promise<Response>

/** Hono takes the body off the answer to a HEAD; here HEAD is GET. */
function answer({ methods }: Route, call: Call): Answer {
  const { method } = call.request
  const name = method === 'HEAD' ? 'GET' : method
  const handler = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (handler !== undefined) return handler(call)
  const headers = { Allow: [...Object.keys(methods), 'HEAD', 'OPTIONS'].join(', ') }
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers })
  const detail = `${quoted(method)} is not available at ${quoted(call.path)}.`
  return problemResponse(call.baseUrl, 'method-not-allowed', detail, { headers })
}

function logError(error: unknown): void {
  console.error(error)
}
