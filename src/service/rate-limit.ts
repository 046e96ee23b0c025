/** How many requests one caller may send (D20): by token, else by address; reads and writes apart. */

import { LRUCache } from 'lru-cache'
import { formatCount } from '../contract/message-text.ts'
import type { Caller } from './access.ts'
import { countedName } from './client-address.ts'
import type { Incoming } from './incoming.ts'
import { Refusal } from './problem-reply.ts'

/** So many requests in so many seconds. The time begins with the first request, and again with the first one after its end. */
export interface RateLimit {
  readonly requests: number
  readonly seconds: number
}

export interface RateLimits {
  /** GET, HEAD and OPTIONS. Default: any number. */
  readonly reads?: RateLimit
  /** All others. Default: any number. */
  readonly writes?: RateLimit
}

export type RateName = keyof RateLimits

/** What a caller has used up. */
export interface RateUse {
  /** Requests so far, with this one. */
  readonly requests: number
  /** Until the time is over, and counting begins again. */
  readonly resetMs: number
}

/** Counts the requests of all callers against one limit. */
export interface RateCounter {
  /** Counts one more request of a caller. */
  count(caller: string): Promise<RateUse>
}

export type CreateRateCounter = (name: RateName, limit: RateLimit) => RateCounter

export interface LimiterOptions {
  /** How many requests one caller may send; a caller is a token, or an address without one. Default: any number. */
  readonly rateLimits?: RateLimits
  /** Counts the requests. Default: in the memory of this process. */
  readonly createRateCounter?: CreateRateCounter
}

/** Counts a request, and returns headers for its reply. Throws a Refusal if it is one too many. */
export type Limiter = (
  request: Incoming,
  caller: Caller | undefined,
  address: string,
) => Promise<Readonly<Record<string, string>>>

/** Undefined where nothing is limited. */
export function createLimiter(options: LimiterOptions): Limiter | undefined {
  const { rateLimits = {}, createRateCounter = countInProcess } = options
  const policies = {
    reads: policyOf('reads', rateLimits.reads, createRateCounter),
    writes: policyOf('writes', rateLimits.writes, createRateCounter),
  }
  if (policies.reads === undefined && policies.writes === undefined) return undefined
  return async (request, caller, address) => {
    const policy = policies[rateNameOf(request)]
    if (policy === undefined) return {}
    return policy(callerName(caller, address), caller?.isKnown === true ? 'token' : 'address')
  }
}

/** Whom a request counts for: its token only if that is valid, otherwise everybody could make up a new caller with each one. */
export function callerName(caller: Caller | undefined, address: string): string {
  return caller?.isKnown === true ? `token ${caller.id}` : `address ${countedName(address)}`
}

function rateNameOf({ method }: Incoming): RateName {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'reads' : 'writes'
}

/** The headers are those of draft-ietf-httpapi-ratelimit-headers: structured fields, the names in quotes. */
function policyOf(name: RateName, limit: RateLimit | undefined, create: CreateRateCounter) {
  if (limit === undefined) return undefined
  for (const [unit, value] of Object.entries(limit))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`Invalid rate limit of ${name}: expected ${unit} to be a whole number from 1, got ${value}.`)
  const counter = create(name, limit)
  const policy = `"${name}";q=${limit.requests};w=${limit.seconds}`
  return async (caller: string, by: 'token' | 'address') => {
    const { requests, resetMs } = await counter.count(caller)
    const seconds = Math.max(1, Math.ceil(resetMs / 1_000))
    const left = Math.max(0, limit.requests - requests)
    const headers = { 'RateLimit-Policy': policy, RateLimit: `"${name}";r=${left};t=${seconds}` }
    if (requests <= limit.requests) return headers
    const detail = `The limit is ${limitText(name, limit)} from one ${by}.`
    throw new Refusal('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(seconds) } })
  }
}

/** `100 reads per second`. */
export function limitText(name: RateName, { requests, seconds }: RateLimit): string {
  const unit = { 1: 'second', 60: 'minute', 3600: 'hour' }[seconds] ?? `${formatCount(seconds)} seconds`
  return `${formatCount(requests)} ${requests === 1 ? name.slice(0, -1) : name} per ${unit}`
}

/** So many are counted at a time. Beyond it, those who have asked for nothing for longest are forgotten. */
export const MAX_CALLERS = 50_000

/** The library is loaded with the first request: most services have no limits. */
function countInProcess(_name: RateName, { requests, seconds }: RateLimit): RateCounter {
  const load = async () => {
    const { RateLimiterMemory } = await import('rate-limiter-flexible')
    const limiter = new RateLimiterMemory({ points: requests, duration: seconds, keyPrefix: '' })
    const callers = new LRUCache<string, true>({
      max: MAX_CALLERS,
      noDisposeOnSet: true,
      dispose: (_, caller) => void limiter.delete(caller),
    })
    return { limiter, callers }
  }
  let loaded: ReturnType<typeof load> | undefined
  return {
    async count(caller) {
      loaded ??= load()
      const { limiter, callers } = await loaded
      callers.set(caller, true)
      // Counts like `consume`, but does not reject.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(caller)
      return { requests: consumedPoints, resetMs: msBeforeNext }
    },
  }
}
