/** What is worth sending again, and after how long. */

export interface RetryPolicy {
  /** How often one request is sent again, at most. */
  readonly retries: number
  /** The longest pause before the first of them; each later one is twice as long, up to `mostDelayMs`. */
  readonly firstDelayMs: number
  readonly mostDelayMs: number
  /** The longest pause that a server can ask for by `Retry-After`; one that asks for more is not asked again. */
  readonly mostRetryAfterMs: number
}

/** What holds where nothing else is said. */
export const DEFAULT_RETRY: RetryPolicy = {
  retries: 8,
  firstDelayMs: 250,
  mostDelayMs: 15_000,
  mostRetryAfterMs: 120_000,
}

/** Too slow, too many requests, or a server (or a proxy before it) that cannot answer at the moment. */
export function isWorthRetrying(status: number): boolean {
  return [408, 429, 502, 503, 504].includes(status)
}

/** The pause that a `Retry-After` header asks for, in seconds or as a date; undefined without one that can be read. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** The pause before retry number `retry`, the first one being 1. Half of it is random, so that clients do not return all at once. */
export function backOffMs(retry: number, policy: RetryPolicy, random: () => number = Math.random): number {
  const full = Math.min(policy.mostDelayMs, policy.firstDelayMs * 2 ** (retry - 1))
  return full / 2 + (full / 2) * random()
}
