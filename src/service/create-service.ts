/** The service as one function from a request to its reply, ready to be mounted in any server that speaks `fetch`. */

import { normalizeBaseUrl } from '../contract/link.ts'
import { quoted } from '../contract/message-text.ts'
import { isLoopbackHost, LOOPBACK_NAMES } from '../contract/url.ts'
import { createExplorer, type Explorer } from '../explorer/create-explorer.ts'
import { availableMemory, planMemory } from '../memory/memory-plan.ts'
import type { Store } from '../store/store.ts'
import { CHALLENGE, findCaller } from './access.ts'
import { createBodyMemory, NO_SHARE } from './body-memory.ts'
import { type Browse, browseNothing, problemInHtml } from './browse.ts'
import { createAddressOf } from './client-address.ts'
import { createCors } from './cors.ts'
import type { HandlerContext } from './handler-context.ts'
import { type Incoming, incomingOf, isRead, type RequestSource, routedPath } from './incoming.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { wantsHtml } from './negotiate.ts'
import { isFault, pathNotFound, problemReply, Refusal, refusalOf } from './problem-reply.ts'
import { createLimiter, type LimiterOptions } from './rate-limit.ts'
import { ChangeWatch } from './read/change-watch.ts'
import { cacheHtml, PageCache, shareHeads } from './read/page-cache.ts'
import { identified, type Reply, responseOf, withHeaders } from './reply.ts'
import { type OnError, type RequestFacts, requestIdOf } from './request-record.ts'
import { findRoute, type Route, routeName } from './routes.ts'

export interface ServiceOptions extends LimiterOptions {
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
  /** Let POST and PATCH create a collection, public and without a key. Default false: only PUT creates one. */
  readonly createOnWrite?: boolean
  /** What one request can send at most. Default: DEFAULT_LIMITS; with less than 2 GB of memory, smaller bodies and fewer items. */
  readonly limits?: Partial<Limits>
  /** Memory for pages that are requested again; 0 keeps none. Default: 64 MiB, or less with less than 2 GB of memory. */
  readonly cacheBytes?: number
  /** How many processes such as this one share the memory of the machine: the defaults are for one of them. Default 1. */
  readonly workers?: number
  /** Answer a browser that navigates with pages for people. Default true; false: never HTML. */
  readonly explorer?: boolean
  /**
   * Origins such as `https://app.example.com` whose pages may read from a browser, or `*` alone for all. Default: none.
   */
  readonly corsOrigins?: readonly string[]
  /** Addresses and networks of the proxies whose `X-Forwarded-For` tells the address of a client. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Called with every error behind a 500 or 503, which the reply does not show. Default: prints its stack to stderr. */
  readonly onError?: OnError
}

export interface Service {
  /** For limits by caller, say where the request comes from: otherwise all without a token are one caller. */
  readonly fetch: (request: Request, from?: RequestSource | object) => Promise<Response>
  /** The same without a `Request` and a `Response` in between: for `listen`. */
  readonly reply: (request: Incoming) => Promise<Reply>
}

export function createService(options: ServiceOptions): Service {
  const plan = planMemory(availableMemory(), options.workers)
  const { store, requireToken: requiresToken = false, cacheBytes = plan.cacheBytes } = options
  const {
    createOnWrite: createsOnWrite = false,
    rateLimits = {},
    onError = (error: unknown) => console.error(error),
  } = options
  const { bodyBytes, requestItems, bodiesAtOnce } = plan
  const limits = { ...DEFAULT_LIMITS, bodyBytes, requestItems, ...options.limits }
  const baseUrl = normalizeBaseUrl(options.baseUrl ?? `http://127.0.0.1:${options.loopbackPort ?? 8080}`)
  const basePath = basePathOf(baseUrl)
  const baseUrlOf = createBaseUrlOf(baseUrl, options.loopbackPort)
  const pages = new PageCache(cacheBytes)
  const findHtml = cacheHtml(cacheBytes)
  const readHead = shareHeads(store)
  const changes = new ChangeWatch(store)
  const explorer = options.explorer === false ? undefined : createExplorer()
  const shareOf = createBodyMemory(limits, bodiesAtOnce)
  const addressOf = createAddressOf(options.trustedProxies ?? [])
  const limiter = createLimiter(options)
  const cors = createCors(options.corsOrigins)

  const reply = cors === undefined ? choose : async (request: Incoming) => cors.complete(request, await choose(request))

  function choose(request: Incoming): Promise<Reply> {
    const path = routedPath(request.target, basePath)
    const route = findRoute(path)
    const browse = browseAt(path, route)
    const facts: RequestFacts = {
      requestId: requestIdOf(request.headers),
      route: routeName(route),
      remoteAddress: addressOf(request),
    }
    if (explorer === undefined || browse === undefined || !isRead(request) || !wantsHtml(request.headers.get('accept')))
      return answer(request, facts, path, route)
    return answerInHtml(request, facts, path, browse, explorer)
  }

  async function answer(
    request: Incoming,
    facts: RequestFacts,
    path: string,
    route: Route | undefined,
  ): Promise<Reply> {
    const own = baseUrlOf(request.host)
    let counted: Readonly<Record<string, string>> | undefined
    try {
      if (own === undefined)
        throw new Refusal('misdirected-request', `The request is for the host ${quoted(request.host ?? '')}.`)
      const allowed = cors?.preflight(request)
      if (allowed !== undefined) return identified(allowed, facts)
      const found = findCaller(request, store)
      const caller = found instanceof Promise ? await found : found
      if (caller?.name !== undefined) facts.tokenName = caller.name
      if (limiter !== undefined && route?.isUnlimited !== true)
        counted = await limiter(request, caller, facts.remoteAddress)
      if (caller === undefined) throw new Refusal('unauthorized', 'The token is not valid.', CHALLENGE)
      if (requiresToken && route?.isOpen !== true && !caller.isKnown)
        throw new Refusal('unauthorized', 'There is no token.', CHALLENGE)
      const bodyShare = isRead(request) ? NO_SHARE : shareOf(caller.id)
      const context: HandlerContext = {
        request,
        facts,
        path,
        baseUrl: own,
        store,
        caller,
        requiresToken,
        createsOnWrite,
        limits,
        rateLimits,
        bodyShare,
        readHead,
        changes,
        pages,
        findHtml,
        explorer,
      }
      try {
        return identified(await handle(route, context), facts, counted)
      } finally {
        bodyShare.release()
      }
    } catch (error) {
      const refusal = refusalOf(error)
      if (isFault(refusal)) onError(error, request, facts.requestId)
      return withHeaders(problemReply(own ?? baseUrl, facts, refusal), counted)
    }
  }

  /** Problems become pages too. */
  async function answerInHtml(
    request: Incoming,
    facts: RequestFacts,
    path: string,
    browse: Browse,
    explorer: Explorer,
  ): Promise<Reply> {
    const methods = { GET: (context: HandlerContext) => browse(context, explorer) }
    const reply = await answer(request, facts, path, { path, methods })
    if (reply.problem === undefined) return reply
    return problemInHtml(request, path, baseUrlOf(request.host) ?? baseUrl, reply, reply.problem, explorer)
  }

  return {
    reply,
    fetch: async (request, from) => {
      const answered = await reply(incomingOf(request, from))
      return responseOf(request.method === 'HEAD' ? { ...answered, body: null } : answered)
    },
  }
}

/** What makes a page at this path: none at the service's own paths. */
function browseAt(path: string, route: Route | undefined): Browse | undefined {
  return route === undefined && !path.startsWith('/-/') ? browseNothing : route?.browse
}

/** HEAD is handled as GET; the body is left out when the reply is sent. */
function handle(route: Route | undefined, context: HandlerContext): Reply | Promise<Reply> {
  if (route === undefined) throw pathNotFound(context)
  const { methods } = route
  const { method } = context.request
  const name = method === 'HEAD' ? 'GET' : method
  const handler = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (handler !== undefined) return handler(context)
  const headers = { Allow: [...Object.keys(methods), 'HEAD', 'OPTIONS'].join(', ') }
  if (method === 'OPTIONS') return { status: 204, headers, body: null }
  const detail = `${quoted(method)} is not available at ${quoted(context.path)}.`
  throw new Refusal('method-not-allowed', detail, { headers })
}

/** The path of a base URL; empty, or begins with a slash and ends without one. */
function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '')
}

/**
 * Which base URL the links of a reply begin with, by the Host of the request; undefined for a host that this service does not
 * answer for (D17). Without `loopbackPort` it is always `baseUrl`: no header ever reaches a link. With it, a Host that is
 * exactly one of our own loopback names is used in the links. Any other name comes from a web page whose host was made to
 * point here, to read what only this machine can reach (DNS rebinding). The port may differ, because of tunnels.
 */
function createBaseUrlOf(
  baseUrl: string,
  loopbackPort: number | undefined,
): (host: string | null) => string | undefined {
  if (loopbackPort === undefined) return () => baseUrl
  const { protocol } = new URL(baseUrl)
  const byHost = new Map<string | null, string>([[null, baseUrl]])
  for (const host of LOOPBACK_NAMES) {
    const own = new URL(`${protocol}//${host}:${loopbackPort}`).origin + basePathOf(baseUrl)
    byHost.set(`${host}:${loopbackPort}`, own)
    if (loopbackPort === (protocol === 'https:' ? 443 : 80)) byHost.set(host, own)
  }
  return (host) => byHost.get(host) ?? (isLoopbackHost(host ?? '') ? baseUrl : undefined)
}
