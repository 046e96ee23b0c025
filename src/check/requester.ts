/** Sends the checker's requests: politely, a limited number of them, and never longer than the time that it was given. */

import { shorten } from '../contract/message-text.ts'
import { type Answer, answerOf, bodyOf, noAnswer, statusLine, UnreadableBody } from './answer.ts'
import type { Ask } from './ask.ts'
import { StaleConnection } from './http-fetch.ts'

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
  /** Ends the run: `send` then throws the signal's reason. */
  readonly signal: AbortSignal | undefined
}

interface Received {
  readonly response: Response
  readonly bytes: Uint8Array
}

/** The requests or the time that the run was given are used up, or the server wants no more of them. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
}

/** How often a server may ask to wait before the same request again. */
const MAX_WAITS = 3
const DEFAULT_WAIT_MS = 1000

/** Between two requests, once the server has asked for a pause. */
const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 2000

/** A timer that rings so much later than it should was held up by ourselves. */
const LATE_MS = 50

/** The longest time that a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1

export class Requester {
  readonly #options: RequesterOptions
  readonly #deadline: number
  #requestsLeft = 0
  #sent = 0
  #running = 0
  #waiting: (() => void)[] = []
  /** No request begins before this time: because of the delay, or because the server asked to wait. */
  #notBefore = 0
  #lastTurn: Promise<void> = Promise.resolve()
  #delayMs: number

  constructor(options: RequesterOptions) {
    this.#options = options
    this.#delayMs = options.delayMs
    this.#deadline = performance.now() + options.timeLimitMs
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
        const answer = await this.#askOnce(ask, collectionName)
        const waitMs = waitOf(answer)
        if (waitMs === undefined) return answer
        if (waits === MAX_WAITS) return unavailable(answer)
        const until = performance.now() + waitMs
        if (until >= this.#deadline)
          throw new LimitReached(
            `the server asks to wait ${Math.ceil(waitMs / 1000)} s (${answer.status}), longer than the run may take`,
          )
        this.#slowDown()
        this.#notBefore = Math.max(this.#notBefore, until + this.#delayMs)
      }
    } finally {
      this.#leave()
    }
  }

  /** Who asks for a pause gets fewer requests from then on. */
  #slowDown(): void {
    this.#delayMs = Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, 2 * this.#delayMs))
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#options.concurrency) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Hands its place over to the one who waits longest, so that nobody else can take it in between. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }

  async #askOnce(ask: Ask, collectionName: string): Promise<Answer> {
    await this.#begin()
    try {
      return await this.#exchange(ask, collectionName)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      await this.#begin()
      return this.#exchange(ask, collectionName)
    }
  }

  /** Takes one request off what is left and waits for its turn: one after the other, in the order of their coming. */
  async #begin(): Promise<void> {
    if (this.#requestsLeft <= 0) throw new LimitReached('all requests of this run are used up; --requests allows more')
    this.#requestsLeft--
    const turn = this.#lastTurn.then(() => this.#takeTurn())
    this.#lastTurn = turn.catch(() => {})
    await turn
  }

  async #takeTurn(): Promise<void> {
    this.#options.signal?.throwIfAborted()
    // While one waits, the server may ask another one to wait longer, and that holds for all.
    for (let now = performance.now(); ; now = performance.now()) {
      if (Math.max(now, this.#notBefore) >= this.#deadline) throw new LimitReached(TIME_IS_UP)
      if (now >= this.#notBefore) break
      await pause(this.#notBefore - now, this.#options.signal)
    }
    this.#notBefore = performance.now() + this.#delayMs
    this.#sent++
  }

  async #exchange(ask: Ask, collectionName: string): Promise<Answer> {
    const outcome = await this.#receive(ask)
    if (performance.now() >= this.#deadline) throw new LimitReached(TIME_IS_UP)
    return 'bytes' in outcome ? answerOf(ask, outcome.response, outcome.bytes, collectionName) : outcome
  }

  /** A response with its body, or what stands for an answer that did not come. */
  async #receive(ask: Ask): Promise<Received | Answer> {
    const { fetch, timeoutMs, answerBytes, signal } = this.#options
    const leftMs = this.#deadline - performance.now()
    const limitMs = Math.max(1, Math.min(timeoutMs, leftMs, MAX_TIMER_MS))
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let end = () => {}
    const timeout = new Promise<'timeout'>((resolve) => {
      end = () => resolve('timeout')
      signal?.addEventListener('abort', end)
      const wait = (waitMs: number) => {
        const dueAt = performance.now() + waitMs
        timer = setTimeout(() => {
          // While we were busy ourselves, with a large answer say, nothing could arrive: that time is given back.
          const lateMs = performance.now() - dueAt
          if (lateMs > LATE_MS) wait(lateMs)
          else end()
        }, waitMs)
      }
      wait(limitMs)
    })
    const exchange = async (): Promise<Received> => {
      const response = await fetch(this.#request(ask, abort.signal))
      return { response, bytes: await bodyOf(response, answerBytes, abort.signal) }
    }
    try {
      // A fetch that takes no notice of the signal must not hold up the run.
      const outcome = await Promise.race([exchange(), timeout])
      if (outcome !== 'timeout') return outcome
      abort.abort()
      signal?.throwIfAborted()
      if (leftMs <= timeoutMs) throw new LimitReached(TIME_IS_UP)
      return noAnswer(ask, `no complete answer within ${limitMs / 1000} s`)
    } catch (error) {
      if (error instanceof LimitReached || error instanceof StaleConnection) throw error
      signal?.throwIfAborted()
      // Ends what may still be coming of a body that cannot be used.
      abort.abort()
      return noAnswer(ask, faultOf(error))
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    }
  }

  #request({ method, url, headers }: Ask, signal: AbortSignal): Request {
    const { token } = this.#options
    const all = new Headers({ accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'reams-check' })
    if (token !== undefined) all.set('authorization', `Bearer ${token}`)
    // Set one by one: a header of the question takes the place of the usual one, however it is written.
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return new Request(url, { method, redirect: 'manual', signal, headers: all })
  }
}

const TIME_IS_UP = 'the time of this run is used up; --time-limit allows more'

/** Rejects with the signal's reason as soon as the run is to end. */
function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, Math.min(Math.ceil(pauseMs), MAX_TIMER_MS))
    signal?.addEventListener('abort', done)

    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
  })
}

/** A server that has enough of us says nothing about the rules; one that is always busy at this URL does. */
function unavailable(answer: Answer): Answer {
  if (answer.status !== 429) return answer
  throw new LimitReached(
    `the server asks to wait again and again (${statusLine(answer)}); --delay sends fewer requests a second`,
  )
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
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const message = cause instanceof Error ? cause.message || code || cause.name : String(cause)
  return FAULTS[code] ?? `no answer that is HTTP (${shorten(message)})`
}

const UNTRUSTED = 'its certificate is signed by nobody known here; NODE_EXTRA_CA_CERTS can name a file with the signer'

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
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'the server does not speak TLS there; its URL may begin with http:',
  HPE_HEADER_OVERFLOW: 'headers that are larger than 16 KiB',
}
