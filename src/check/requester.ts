/** Sends the checker's requests: politely, a limited number of them, and never longer than the time that it was given. */

import { type Answer, answerOf, bodyOf, noAnswer, UnreadableBody } from './answer.ts'
import type { Ask } from './ask.ts'

export interface RequesterOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** A bearer token for every request. */
  readonly token: string | undefined
  /** Requests at a time. */
  readonly concurrency: number
  /** Pause between the beginnings of two requests. */
  readonly delayMs: number
  /** For one answer. */
  readonly timeoutMs: number
  /** For the whole run. */
  readonly timeLimitMs: number
  /** The largest body that is read, unpacked. */
  readonly answerBytes: number
}

/** The requests or the time that the run was given are used up. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
}

/** How often a server may ask to wait before it counts as an answer that does not come. */
const MOST_WAITS = 3
const DEFAULT_WAIT_MS = 1000

export class Requester {
  readonly #options: RequesterOptions
  readonly #deadline: number
  #requestsLeft = 0
  #sent = 0
  #running = 0
  #waiting: (() => void)[] = []
  /** No request begins before this time: because of the delay, or because the server asked to wait. */
  #notBefore = 0

  constructor(options: RequesterOptions) {
    this.#options = options
    this.#deadline = Date.now() + options.timeLimitMs
  }

  get sent(): number {
    return this.#sent
  }

  get requestsLeft(): number {
    return this.#requestsLeft
  }

  /** Sets how many requests may still be sent. */
  allow(requests: number): void {
    this.#requestsLeft = requests
  }

  /** Throws LimitReached; whatever else goes wrong is an answer with status 0. */
  async send(ask: Ask, collectionName: string): Promise<Answer> {
    await this.#enter()
    try {
      for (let waits = 0; ; waits++) {
        await this.#begin()
        const answer = await this.#exchange(ask, collectionName)
        const waitMs = waitOf(answer)
        if (waitMs === undefined || waits === MOST_WAITS) return answer
        if (Date.now() + waitMs >= this.#deadline)
          throw new LimitReached(
            `the server asks to wait ${Math.ceil(waitMs / 1000)} s (${answer.status}), longer than the run may take`,
          )
        this.#notBefore = Math.max(this.#notBefore, Date.now() + waitMs)
      }
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= this.#options.concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running++
  }

  #leave(): void {
    this.#running--
    this.#waiting.shift()?.()
  }

  /** Waits for its turn and takes one request off what is left. */
  async #begin(): Promise<void> {
    if (this.#requestsLeft <= 0) throw new LimitReached('all requests of this run are used up')
    this.#requestsLeft--
    const startAt = Math.max(Date.now(), this.#notBefore)
    this.#notBefore = startAt + this.#options.delayMs
    const pauseMs = startAt - Date.now()
    if (startAt >= this.#deadline) throw new LimitReached('the time of this run is used up')
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    this.#sent++
  }

  async #exchange(ask: Ask, collectionName: string): Promise<Answer> {
    const { fetch, timeoutMs, answerBytes } = this.#options
    const leftMs = this.#deadline - Date.now()
    const limitMs = Math.max(1, Math.min(timeoutMs, leftMs))
    const timeout = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const timedOut = new Promise<Answer>((resolve) => {
      timer = setTimeout(() => {
        resolve(noAnswer(ask, `no complete answer within ${limitMs / 1000} s`))
        timeout.abort()
      }, limitMs)
    })
    const exchange = async () => {
      const response = await fetch(this.#request(ask, timeout.signal))
      return { response, bytes: await bodyOf(response, answerBytes) }
    }
    try {
      // A fetch that takes no notice of the signal must not hold up the run.
      const outcome = await Promise.race([exchange().catch((error) => noAnswer(ask, faultOf(error))), timedOut])
      const answer = 'bytes' in outcome ? answerOf(ask, outcome.response, outcome.bytes, collectionName) : outcome
      // Also ends what is still coming of a body that was too large.
      if (answer.status === 0) timeout.abort()
      if (answer.status === 0 && Date.now() >= this.#deadline) throw new LimitReached('the time of this run is used up')
      return answer
    } finally {
      clearTimeout(timer)
    }
  }

  #request({ method, url, headers }: Ask, signal: AbortSignal): Request {
    const { token } = this.#options
    return new Request(url, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'reams-check',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    })
  }
}

/** How long the server asks to wait before the same request again; undefined where it does not. */
function waitOf({ status, headers }: Answer): number | undefined {
  const retryAfter = headers.get('retry-after')
  if (status !== 429 && !(status === 503 && retryAfter !== null)) return undefined
  if (retryAfter === null) return DEFAULT_WAIT_MS
  if (/^[0-9]{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? DEFAULT_WAIT_MS : Math.max(0, at - Date.now())
}

/** Why there was no answer, in a few words. */
function faultOf(error: unknown): string {
  if (error instanceof UnreadableBody) return error.message
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { code, message } = cause as { code?: unknown; message?: unknown }
  const known = typeof code === 'string' ? FAULTS[code] : undefined
  return known ?? `no answer that is HTTP (${String(message === '' ? code : message)})`
}

const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there (connection refused)',
  ECONNRESET: 'the connection was closed before the answer was complete',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  EPIPE: 'the connection was closed before the answer was complete',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
}
