/** Sends the checker's requests: politely, a limited number of them, and never beyond the time limit of the run. */

import { shorten } from '../../contract/message-text.ts'
import type { HttpRequest } from './response.ts'
import { type HttpResponse, noResponse, readBody, responseOf, statusLine, UnreadableBody } from './response.ts'
import { isUntrusted, StaleConnection, UNTRUSTED } from './socket-fetch.ts'

export interface RequesterOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Called when a connection that was kept open turned out to be closed. */
  readonly onStale?: () => void
  /** A bearer token for every request. */
  readonly token: string | undefined
  /** Requests at a time. */
  readonly concurrency: number
  /** Pause between the starts of two requests. */
  readonly delayMs: number
  /** For one response. */
  readonly timeoutMs: number
  /** For the whole run. */
  readonly timeLimitMs: number
  /** The largest body that is read, decompressed. */
  readonly answerBytes: number
  /** Ends the run: `send` then throws the signal's reason. */
  readonly signal: AbortSignal | undefined
}

/** The requests or the time of the run are used up, or the server wants no more of them. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
}

/** How often a server may ask to wait before the same request. */
const MAX_WAITS = 3
const DEFAULT_WAIT_MS = 1000

/** Between two requests, once the server has asked for a pause. */
const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 2000

/** A timer that fires this much too late was held up by our own work. */
const LATE_MS = 50

/** The longest time that a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1

const TIME_IS_UP = 'the time of this run is used up (--time-limit allows more)'

export class Requester {
  readonly #options: RequesterOptions
  readonly #deadline: number
  requestsLeft = 0
  #sent = 0
  #running = 0
  #waiting: (() => void)[] = []
  /** No request starts before this time: because of the delay, or because the server asked to wait. */
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

  /** Throws LimitReached; whatever else goes wrong is a response with status 0. */
  async send(request: HttpRequest, collectionName: string): Promise<HttpResponse> {
    if (this.#running < this.#options.concurrency) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      for (let waits = 0; ; waits++) {
        const response = await this.#sendOnce(request, collectionName)
        const waitMs = requestedWaitMs(response)
        if (waitMs === undefined) return response
        if (waits === MAX_WAITS) return unavailable(response)
        this.#postpone(response.status, waitMs)
      }
    } finally {
      // The slot goes straight to the one who waits longest, so that nobody else can take it in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  /** A server that asks for a pause gets fewer requests from then on. */
  #postpone(status: number, waitMs: number): void {
    const until = performance.now() + waitMs
    if (until >= this.#deadline)
      throw new LimitReached(
        `the server asks to wait ${Math.ceil(waitMs / 1000)} s (${status}), longer than the run may take`,
      )
    this.#delayMs = Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, 2 * this.#delayMs))
    this.#notBefore = Math.max(this.#notBefore, until + this.#delayMs)
  }

  async #sendOnce(request: HttpRequest, collectionName: string): Promise<HttpResponse> {
    if (this.requestsLeft <= 0) throw new LimitReached('all requests of this run are used up')
    this.requestsLeft--
    // One after the other, in the order in which they came.
    const turn = this.#lastTurn.then(() => this.#takeTurn())
    this.#lastTurn = turn.catch(() => {})
    await turn
    try {
      const received = await this.#receive(request)
      if (performance.now() >= this.#deadline) throw new LimitReached(TIME_IS_UP)
      return 'fault' in received ? received : responseOf(request, received.response, received.bytes, collectionName)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      // It happens once: the next request gets a connection of its own.
      this.#options.onStale?.()
      return this.#sendOnce(request, collectionName)
    }
  }

  async #takeTurn(): Promise<void> {
    this.#options.signal?.throwIfAborted()
    // Meanwhile the server may ask another request to wait longer, and that holds for all.
    for (let now = performance.now(); ; now = performance.now()) {
      if (Math.max(now, this.#notBefore) >= this.#deadline) throw new LimitReached(TIME_IS_UP)
      if (now >= this.#notBefore) break
      await pause(this.#notBefore - now, this.#options.signal)
    }
    this.#notBefore = performance.now() + this.#delayMs
    this.#sent++
  }

  /** A response with its body, or what stands for one that did not come. */
  async #receive(request: HttpRequest): Promise<{ response: Response; bytes: Uint8Array } | HttpResponse> {
    const { fetch, timeoutMs, answerBytes, signal } = this.#options
    const leftMs = this.#deadline - performance.now()
    const limitMs = Math.max(1, Math.min(timeoutMs, leftMs, MAX_TIMER_MS))
    const abort = new AbortController()
    const deadline = startDeadline(limitMs, signal)
    const exchange = async () => {
      const response = await fetch(this.#fetchRequest(request, abort.signal))
      return { response, bytes: await readBody(response, answerBytes, abort.signal) }
    }
    try {
      // A fetch that ignores the signal must not hold up the run.
      const received = await Promise.race([exchange(), deadline.passed])
      if (received !== 'passed') return received
      abort.abort()
      signal?.throwIfAborted()
      if (leftMs <= timeoutMs) throw new LimitReached(TIME_IS_UP)
      return noResponse(request, `no complete response within ${limitMs / 1000} s`)
    } catch (error) {
      if (error instanceof LimitReached || error instanceof StaleConnection) throw error
      signal?.throwIfAborted()
      // Ends what may still be coming of a body that cannot be used.
      abort.abort()
      return noResponse(request, faultOf(error))
    } finally {
      deadline.clear()
    }
  }

  #fetchRequest({ method, url, headers }: HttpRequest, signal: AbortSignal): Request {
    const { token } = this.#options
    const all = new Headers({ accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'reams-check' })
    if (token !== undefined) all.set('authorization', `Bearer ${token}`)
    // One by one, so that each replaces the default one, however it is written.
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return new Request(url, { method, redirect: 'manual', signal, headers: all })
  }
}

/** Passes after `limitMs`, or as soon as the run is aborted. */
function startDeadline(limitMs: number, signal: AbortSignal | undefined) {
  const { promise: passed, resolve } = Promise.withResolvers<'passed'>()
  const end = () => resolve('passed')
  let timer: ReturnType<typeof setTimeout>
  const wait = (waitMs: number) => {
    const dueAt = performance.now() + waitMs
    timer = setTimeout(() => {
      // While we were busy ourselves, with a large response say, nothing could arrive: that time is given back.
      const lateMs = performance.now() - dueAt
      if (lateMs > LATE_MS) wait(lateMs)
      else end()
    }, waitMs)
  }
  wait(limitMs)
  signal?.addEventListener('abort', end)
  const clear = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
  return { passed, clear }
}

/** Rejects with the signal's reason as soon as the run is aborted. */
async function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  const deadline = startDeadline(Math.min(Math.ceil(pauseMs), MAX_TIMER_MS), signal)
  await deadline.passed
  deadline.clear()
  signal?.throwIfAborted()
}

/** A server that has had enough of us says nothing about the rules; one that is always busy at this URL does. */
function unavailable(response: HttpResponse): HttpResponse {
  if (response.status !== 429) return response
  throw new LimitReached(
    `the server asks to wait again and again (${statusLine(response)}; --delay sends fewer requests a second)`,
  )
}

/** How long the server asks to wait before the same request; undefined if it does not. */
function requestedWaitMs({ status, headers }: HttpResponse): number | undefined {
  const retryAfter = headers.get('retry-after')
  if (status !== 429 && !(status === 503 && retryAfter !== null)) return undefined
  if (retryAfter === null) return DEFAULT_WAIT_MS
  if (/^[0-9]{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? DEFAULT_WAIT_MS : Math.max(0, at - Date.now())
}

/** Why there was no response, in a few words. */
function faultOf(error: unknown): string {
  if (error instanceof UnreadableBody) return error.message
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const message = cause instanceof Error ? cause.message || code || cause.name : String(cause)
  if (isUntrusted(cause)) return `${UNTRUSTED}; to trust that authority, give its certificate: --ca FILE`
  return FAULTS[code.startsWith('ERR_SSL_') ? 'EPROTO' : code] ?? `no valid HTTP response (${shorten(message)})`
}

const CLOSED = 'the connection was closed before the response was complete'

const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there (connection refused)',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'the server does not speak TLS there; try a URL that begins with http:',
  HPE_HEADER_OVERFLOW: 'headers that are larger than 16 KiB',
}
