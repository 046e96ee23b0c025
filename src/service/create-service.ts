/** The service as one function from a request to its answer, ready to be mounted in any server that speaks `fetch`. */

import { normalizeBaseUrl } from '../contract/link.ts'
import { createExplorer, type Explorer } from '../explorer/create-explorer.ts'
import type { Store } from '../store/store.ts'
import { type Caller, CHALLENGE, findCaller } from './access.ts'
import { basePathOf, createBaseUrlOf } from './base-url.ts'
import { BodyMemory, type BodyShare, NO_SHARE } from './body-memory.ts'
import { type Browse, problemInHtml } from './browse.ts'
import type { Call } from './call.ts'
import { failure } from './failure.ts'
import { HtmlPages } from './html-pages.ts'
import { type Incoming, incomingOf } from './incoming.ts'
import { DEFAULT_CACHE_BYTES, DEFAULT_LIMITS, type Limits } from './limits.ts'
import { wantsHtml } from './negotiate.ts'
import { pathNotFound } from './not-found.ts'
import { PageCache } from './page-cache.ts'
import { problemResponse, quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'
import { type Reply, responseOf } from './reply.ts'
import { routedPath } from './request-url.ts'
import { findRoute, type Route } from './routes.ts'
import { SharedHeads } from './shared-heads.ts'
import { refusalOf } from './store-refusal.ts'

export interface ServiceOptions {
  /** Where the collections are. The service does not close it. */
  readonly store: Store
  /** What every link begins with; may have a path. Default: http://127.0.0.1, with `loopbackPort` or 8080. */
  readonly baseUrl?: string
  /**
   * Set only when the service listens on loopback, at this port, and was given no base URL: then `localhost`,
   * `127.0.0.1` or `[::1]` stands in the links, as the request names it, and a request for any other host is refused
   * with 421. Default: no header reaches a link, and every host is answered.
   */
  readonly loopbackPort?: number
  /** Answer only those with a token, but for `/-/health`, `/-/problems/` and `/-/explorer/`. Default: what is public is open. */
  readonly requireToken?: boolean
  /** What one request can send at most. Default: DEFAULT_LIMITS. */
  readonly limits?: Partial<Limits>
  /** Memory for pages that are asked for again; 0 keeps none. Default: 64 MiB. */
  readonly cacheBytes?: number
  /** Answer a browser that navigates with pages for people. Default true; false: never HTML. */
  readonly explorer?: boolean
  /** Told of every error behind a 500 or 503, which the answer does not show. Default: its stack goes to stderr. */
  readonly onError?: (error: unknown, request: Pick<Incoming, 'method' | 'target'>) => void
}

export interface Service {
  readonly fetch: (request: Request) => Promise<Response>
  /** The same without a `Request` and a `Response` in between: for `listen`. */
  readonly reply: (request: Incoming) => Promise<Reply>
}

/** A request, and where it leads. */
interface Asked {
  readonly request: Incoming
  readonly baseUrl: string
  /** It is for a host that this service does not answer for. */
  readonly isMisdirected: boolean
  readonly path: string
  readonly route: Route | undefined
}

export function createService(options: ServiceOptions): Service {
  const { store, requireToken: requiresToken = false, onError = logError, cacheBytes = DEFAULT_CACHE_BYTES } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const baseUrl = normalizeBaseUrl(options.baseUrl ?? `http://127.0.0.1:${options.loopbackPort ?? 8080}`)
  const basePath = basePathOf(baseUrl)
  const baseUrlOf = createBaseUrlOf(baseUrl, options.loopbackPort)
  const pages = new PageCache(cacheBytes)
  const htmlPages = new HtmlPages(cacheBytes)
  const heads = new SharedHeads(store)
  const explorer = options.explorer === false ? undefined : createExplorer()
  const bodyMemory = new BodyMemory(limits.bodyBytes)

  async function answer(asked: Asked): Promise<Reply> {
    const { request, route } = asked
    if (asked.isMisdirected) throw misdirected(request)
    const found = findCaller(request, store)
    const caller = found instanceof Promise ? await found : found
    if (caller === undefined) throw new Refusal('unauthorized', 'The token is not valid.', CHALLENGE)
    if (requiresToken && route?.isOpen !== true && !caller.isKnown)
      throw new Refusal('unauthorized', 'There is no token.', CHALLENGE)
    if (isRead(request)) return handle(route, callOf(asked, caller, NO_SHARE))
    using bodyShare = bodyMemory.share(caller.id)
    return await handle(route, callOf(asked, caller, bodyShare))
  }

  function callOf({ request, baseUrl, path }: Asked, caller: Caller, bodyShare: BodyShare): Call {
    return {
      request,
      path,
      baseUrl,
      store,
      caller,
      requiresToken,
      limits,
      bodyShare,
      heads,
      pages,
      htmlPages,
      explorer,
      onError,
    }
  }

  async function answerOrProblem(asked: Asked): Promise<Reply> {
    const { request, baseUrl } = asked
    try {
      return await answer(asked)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal instanceof Refusal) return problemResponse(baseUrl, refusal.problem, refusal.message, refusal.options)
      onError(error, request)
      return failure(baseUrl, error)
    }
  }

  function reply(request: Incoming): Promise<Reply> {
    const path = routedPath(request.target, basePath)
    const own = baseUrlOf(request.host)
    const asked = {
      request,
      baseUrl: own ?? baseUrl,
      isMisdirected: own === undefined,
      path,
      route: findRoute(path),
    }
    const browse = isRead(request) ? asked.route?.browse : undefined
    if (explorer === undefined || browse === undefined || !wantsHtml(request)) return answerOrProblem(asked)
    return answerInHtml(asked, browse, explorer)
  }

  /** A problem of whatever kind becomes a page too. */
  async function answerInHtml(asked: Asked, browse: Browse, explorer: Explorer): Promise<Reply> {
    const route = { path: asked.path, methods: { GET: (call: Call) => browse(call, explorer) } }
    const answered = await answerOrProblem({ ...asked, route })
    return answered.problem === undefined ? answered : problemInHtml(asked, answered, answered.problem, explorer)
  }

  return {
    reply,
    fetch: async (request) => {
      const answered = await reply(incomingOf(request))
      return responseOf(request.method === 'HEAD' ? { ...answered, body: null } : answered)
    },
  }
}

/** HEAD is GET; whoever sends the answer leaves the body out. */
function handle(route: Route | undefined, call: Call): Reply | Promise<Reply> {
  if (route === undefined) return pathNotFound(call)
  const { methods } = route
  const { method } = call.request
  const name = method === 'HEAD' ? 'GET' : method
  const handler = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (handler !== undefined) return handler(call)
  const headers = { Allow: [...Object.keys(methods), 'HEAD', 'OPTIONS'].join(', ') }
  if (method === 'OPTIONS') return { status: 204, headers, body: null }
  const detail = `${quoted(method)} is not available at ${quoted(call.path)}.`
  return problemResponse(call.baseUrl, 'method-not-allowed', detail, { headers })
}

function misdirected({ host }: Incoming): Refusal {
  return new Refusal('misdirected-request', `The request is for the host ${quoted(host ?? '')}.`)
}

function isRead({ method }: Incoming): boolean {
  return method === 'GET' || method === 'HEAD'
}

function logError(error: unknown): void {
  console.error(error)
}
