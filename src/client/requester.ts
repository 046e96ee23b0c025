/** Sends the requests of a client: a limited number at a time, and again where that may help. */

import { ConnectionLost, HttpError, TimeoutError } from './client-error.ts'
import type { Retry, RetryPolicy, Settings } from './client-options.ts'
import { onAbort, sleep } from './deadline.ts'
import { type ExchangeTerms, exchange, type FetchedBody, type OutgoingRequest } from './exchange.ts'

/** For whom a request is sent. */
export interface RequestContext {
  readonly signal?: AbortSignal | undefined
  /** Told before a request is sent again. */
  readonly onRetry?: (() => void) | undefined
}

type Failure = Omit<Retry, 'delayMs'>

/** A server that has not answered yet may not exist at all, and whoever waits wants to know it soon. */
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

  /** Sends a request, and again where that may help. What `read` makes of the answer counts as part of it. */
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
        // The slot is kept meanwhile: who was told to wait leaves it to nobody else.
        await this.#pause({ url: request.url, retry, error }, era, context)
      } finally {
        this.slots.giveBack()
      }
    }
  }

  /** Before asking again. Throws the error where that is of no use. */
  async #pause(failure: Failure, era: number, context: RequestContext): Promise<void> {
    const { error } = failure
    if (error instanceof HttpError && (error.status === 429 || error.status === 503)) this.slots.shrink(era)
    const delayMs = this.#delayMs(failure)
    if (delayMs === undefined) throw error
    context.onRetry?.()
    this.settings.onRetry({ ...failure, delayMs })
    await sleep(delayMs, context.signal)
  }

  #delayMs({ retry, error }: Failure): number | undefined {
    const policy = this.settings.retry
    const most = this.#hasAnswered ? policy.retries : Math.min(policy.retries, RETRIES_BEFORE_AN_ANSWER)
    if (retry > most) return undefined
    if (error instanceof ConnectionLost || error instanceof TimeoutError) return backOffMs(retry, policy)
    if (!(error instanceof HttpError) || !WORTH_RETRYING.includes(error.status)) return undefined
    const { retryAfterMs: asked = 0 } = error
    if (asked > policy.mostRetryAfterMs) return undefined
    // A little more than asked for, so that those who wait do not return all at once.
    return asked === 0 ? backOffMs(retry, policy) : asked + backOffMs(1, policy)
  }
}

/** The pause before retry number `retry`, the first one being 1. Half of it is random, so that clients do not return all at once. */
export function backOffMs(retry: number, policy: RetryPolicy, random: () => number = Math.random): number {
  const full = Math.min(policy.mostDelayMs, policy.firstDelayMs * 2 ** (retry - 1))
  return full / 2 + (full / 2) * random()
}

/** How many requests may be under way at a time: fewer when the server says that it is too much, then slowly more again. */
class Slots {
  /** Those that are under way, or wait before they are sent again. */
  taken = 0
  /** Goes up with every halving. */
  era = 0
  readonly #most: number
  #limit: number
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
    this.#limit = most
  }

  /** Waits for a slot, in the order of asking. Each one has to be given back. Rejects with the reason of the signal. */
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

  /** Halves the limit, unless the request was sent (in `era`) before the last halving, of which the server could not know. */
  shrink(era: number): void {
    if (era !== this.era) return
    this.era++
    this.#limit = Math.max(1, this.#limit / 2)
  }

  /** An answer came as it should: when the limit was used once around, it is one more. */
  grow(): void {
    this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit)
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
