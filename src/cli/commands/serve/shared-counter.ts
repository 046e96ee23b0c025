/**
 * Counts the requests of callers for all workers together: the first process counts, and workers ask it. A message for every
 * request would cost more than a hot page, so a worker takes a small part of a caller's limit at a time and gives it out itself.
 */

import { LRUCache } from 'lru-cache'
import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible'
import { MAX_CALLERS, type RateCounter, type RateLimit, type RateName } from '../../../service/rate-limit.ts'

/**
 * A worker takes this part of what is left of a limit, divided by the number of workers: the less is left, the less it takes.
 * What it does not use is lost, and that is less than a tenth of the limit for all workers together.
 */
const PARTS = 10
/** If the first process does not answer in this time, the worker counts alone for as long: limits must not stop the service. */
const TIMEOUT_MS = 1_000

/** In the first process. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster()
}

/** What a worker has taken of a caller's limit. */
interface Part {
  /** Requests that it may still give out. */
  left: number
  /** Requests that all workers have taken, these included. */
  readonly taken: number
  readonly endsAt: number
}

/** In a worker. */
export function createSharedCounter(name: RateName, { requests, seconds }: RateLimit, workers: number): RateCounter {
  const limiter = new RateLimiterCluster({
    points: requests,
    duration: seconds,
    keyPrefix: name,
    timeoutMs: TIMEOUT_MS,
  })
  const parts = new LRUCache<string, Part>({
    max: MAX_CALLERS,
    noDisposeOnSet: true,
    dispose: (_part, caller) => void limiter.delete(caller).catch(() => {}),
  })
  const coming = new Map<string, Promise<Part>>()

  async function take(caller: string): Promise<Part> {
    const last = parts.get(caller)
    const left = last === undefined || isOver(last) ? requests : requests - last.taken
    const size = Math.max(1, Math.floor(left / (PARTS * workers)))
    try {
      const { consumedPoints, msBeforeNext } = await limiter.penalty(caller, size)
      const got = Math.min(size, Math.max(0, requests - (consumedPoints - size)))
      return { left: got, taken: Math.min(requests, consumedPoints), endsAt: performance.now() + msBeforeNext }
    } catch {
      return { left: size, taken: requests, endsAt: performance.now() + TIMEOUT_MS }
    }
  }

  /** Requests that come meanwhile wait for the same part. */
  function takeOnce(caller: string): Promise<Part> {
    const running = coming.get(caller)
    if (running !== undefined) return running
    const taking = take(caller).then((part) => {
      coming.delete(caller)
      parts.set(caller, part)
      return part
    })
    coming.set(caller, taking)
    return taking
  }

  return {
    async count(caller) {
      let part = parts.get(caller)
      while (part === undefined || isOver(part) || (part.left === 0 && part.taken < requests))
        part = await takeOnce(caller)
      const resetMs = part.endsAt - performance.now()
      if (part.left === 0) return { requests: requests + 1, resetMs }
      part.left--
      return { requests: part.taken - part.left, resetMs }
    },
  }
}

function isOver({ endsAt }: Part): boolean {
  return performance.now() >= endsAt
}
