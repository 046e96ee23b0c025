/** Sends the requests of a client: a limited number at a time, and again where that may help. */

import type { Retry, Settings } from './client-options.ts'
import { ConnectionLost } from './connection-lost.ts'
import { sleep } from './deadline.ts'
import { type Answer, exchange, type Terms } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { backOffMs, isWorthRetrying } from './retry.ts'
import { Slots } from './slots.ts'
import { TimeoutError } from './timeout-error.ts'

/** For whom a request is sent. */
export interface Errand {
  readonly signal?: AbortSignal | undefined
  /** Told before a request is sent again. */
  readonly onRetry?: (() => void) | undefined
}

type Failure = Omit<Retry, 'delayMs'>

/** A server that has not answered yet may not exist at all, and whoever waits wants to know it soon. */
const RETRIES_BEFORE_AN_ANSWER = 2

export class Requester implements Terms {
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

  /** Asks, and asks again where that may help. What `read` makes of the answer counts as part of it. */
  async get<T>(url: string, errand: Errand, read: (answer: Answer) => T): Promise<T> {
    for (let retry = 1; ; retry++) {
      await this.slots.take(errand.signal)
      const era = this.slots.era
      try {
        const value = read(await exchange(url, this, errand.signal))
        this.slots.grow()
        return value
      } catch (error) {
        errand.signal?.throwIfAborted()
        // The slot is kept meanwhile: who was told to wait leaves it to nobody else.
        await this.#pause({ url, retry, error }, era, errand)
      } finally {
        this.slots.giveBack()
      }
    }
  }

  /** Before asking again. Throws the error where that is of no use. */
  async #pause(failure: Failure, era: number, errand: Errand): Promise<void> {
    const { error } = failure
    if (error instanceof HttpError && (error.status === 429 || error.status === 503)) this.slots.shrink(era)
    const delayMs = this.#delayMs(failure)
    if (delayMs === undefined) throw error
    errand.onRetry?.()
    this.settings.onRetry({ ...failure, delayMs })
    await sleep(delayMs, errand.signal)
  }

  #delayMs({ retry, error }: Failure): number | undefined {
    const policy = this.settings.retry
    const most = this.#hasAnswered ? policy.retries : Math.min(policy.retries, RETRIES_BEFORE_AN_ANSWER)
    if (retry > most) return undefined
    if (error instanceof ConnectionLost || error instanceof TimeoutError) return backOffMs(retry, policy)
    if (!(error instanceof HttpError) || !isWorthRetrying(error.status)) return undefined
    const { retryAfterMs: asked = 0 } = error
    if (asked > policy.mostRetryAfterMs) return undefined
    // A little more than asked for, so that those who wait do not return all at once.
    return asked === 0 ? backOffMs(retry, policy) : asked + backOffMs(1, policy)
  }
}
