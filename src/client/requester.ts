/** Sends the requests of a client: limits how many are in flight, and retries. */

import { ConnectionLost, HttpError, TimeoutError } from './client-error.ts'
import type { Retry, RetryPolicy, Settings } from './client-options.ts'
import { onAbort, sleep } from './deadline.ts'
import { type ExchangeTerms, exchange, type FetchedBody, type OutgoingRequest } from './exchange.ts'

/** What the caller of a request adds to it. */
export interface RequestContext {
  readonly signal?: AbortSignal | undefined
  /** Called before the request is sent again. */
  readonly onRetry?: (() => void) | undefined
}

type Failure = Omit<Retry, 'delayMs'>

/** A server that has never answered may not exist, and the user wants to know that soon. */
const RETRIES_BEFORE_AN_ANSWER = 2

/** Too slow, too many requests, or a server (or a proxy before it) that cannot answer at the moment. */
const WORTH_RETRYING = [408, 429, 502, 503, 504]

export class Requester implements ExchangeTerms {
  readonly settings: Settings
  readonly origin: string
  readonly slots: Slots
  #hasAnswered = false

  constructor(url: string, settings: Settings) {
    this.settings = settings
    this.origin = new URL(url).origin
    this.slots = new Slots(settings.concurrency)
  }

  /** Whether links may point there, and redirects may lead there. */
  readonly allows = ({ protocol, origin }: URL): boolean => {
    // A blob: has the origin of the page that made it.
    return protocol.startsWith('http') && (origin === this.origin || this.settings.allowedOrigins.has(origin))
  }

  readonly onAnswer = (): void => {
    this.#hasAnswered = true
  }

  /** Sends a request, and retries it. An error that `read` throws counts like one of the request. */
  async send<T>(request: OutgoingRequest, context: RequestContext, read: (fetched: FetchedBody) => T): Promise<T> {
    for (let retry = 1; ; retry++) {
      await this.slots.take(context.signal)
      const era = this.slots.era
      try {
        const value = read(await exchange(request, this, context.signal))
        this.slots.grow()
        return value
      } catch (error) {
        context.signal?.throwIfAborted()
        // The slot is kept during the pause, so that no other request takes its place.
        await this.#pause({ url: request.url, retry, error }, era, context)
      } finally {
        this.slots.giveBack()
      }
    }
  }

  /** Waits before a retry. Throws the error if there is to be none. */
  async #pause(failure: Failure, era: number, context: RequestContext): Promise<void> {
    const { error } = failure
    if (error instanceof HttpError && [429, 503].includes(error.status)) this.slots.shrink(era)
    const delayMs = this.#delayMs(failure)
    if (delayMs === undefined) throw error
    context.onRetry?.()
    this.settings.onRetry({ ...failure, delayMs })
    await sleep(delayMs, context.signal)
  }

  #delayMs({ retry, error }: Failure): number | undefined {
    const policy = this.settings.retry
    const max = this.#hasAnswered ? policy.retries : Math.min(policy.retries, RETRIES_BEFORE_AN_ANSWER)
    if (retry > max) return undefined
    if (error instanceof ConnectionLost || error instanceof TimeoutError) return backOffMs(retry, policy)
    if (!(error instanceof HttpError) || !WORTH_RETRYING.includes(error.status)) return undefined
    const { retryAfterMs: asked = 0 } = error
    if (asked > policy.maxRetryAfterMs) return undefined
    // A little longer than asked for, so that clients do not return all at once.
    return asked === 0 ? backOffMs(retry, policy) : asked + backOffMs(1, policy)
  }
}

/** The pause before retry number `retry`, the first one being 1. Half of it is random, so that clients do not return all at once. */
export function backOffMs(retry: number, policy: RetryPolicy, random: () => number = Math.random): number {
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (retry - 1))
  return full / 2 + (full / 2) * random()
}

/** Limits the requests in flight: half as many when the server is overloaded, then slowly more again. */
export class Slots {
  /** Requests in flight, or waiting to be sent again. */
  taken = 0
  /** Goes up each time the limit is halved. */
  era = 0
  readonly #max: number
  #limit: number
  readonly #waiting = new Set<() => void>()

  constructor(max: number) {
    this.#max = max
    this.#limit = max
  }

  /** Waits for a slot, first come, first served; it must be given back. Rejects with the reason of the signal. */
  take(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        unlink()
        resolve()
      }
      this.#waiting.add(start)
      const unlink = onAbort(signal, (reason) => {
        this.#waiting.delete(start)
        reject(reason)
      })
      this.#fill()
    })
  }

  giveBack(): void {
    this.taken--
    this.#fill()
  }

  /** Halves the limit, unless it was halved since the request was sent, in `era`. */
  shrink(era: number): void {
    if (era !== this.era) return
    this.era++
    this.#limit = Math.max(1, this.#limit / 2)
  }

  /** After a success. As many successes as the limit raise it by one. */
  grow(): void {
    this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit)
    this.#fill()
  }

  #fill(): void {
    for (const start of this.#waiting) {
      if (this.taken >= Math.floor(this.#limit)) return
      this.taken++
      this.#waiting.delete(start)
      start()
    }
  }
}
