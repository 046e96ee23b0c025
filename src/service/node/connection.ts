/**
 * One connection. Its requests are answered one at a time, and no more is read from it while a request waits: a client that
 * sends thousands of requests ahead, or does not read its replies, holds up nobody else.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ProblemName } from '../../contract/problem.ts'
import { plainAddress } from '../client-address.ts'
import { type Incoming, isRead } from '../incoming.ts'
import { KEEP_ALIVE_MS, LINGER_MS, MAX_HEADER_BYTES } from '../limits.ts'
import { problemReply, Refusal, refusalOf } from '../problem-reply.ts'
import type { Reply } from '../reply.ts'
import { type OnError, type RequestFacts, type RequestRecord, requestIdOf, UNANSWERED } from '../request-record.ts'
import { http } from './http-module.ts'
import { incomingFrom, isUsualGet, RawHeaders } from './node-request.ts'
import { Outgoing, type OutgoingOptions } from './outgoing.ts'
import type { WriteThrottle } from './write-throttle.ts'

/** What all connections of a server share. */
export interface ConnectionOptions extends OutgoingOptions {
  readonly reply: (request: Incoming) => Promise<Reply>
  readonly baseUrl: string
  readonly throttle: WriteThrottle
  /** For receiving a whole request. */
  readonly requestTimeoutMs: number
  /** For receiving its head. */
  readonly headTimeoutMs: number
  /** Whether the HTTP server keeps to these times by itself. If not, `checkTime` is to be called every now and then. */
  readonly isTimed: boolean
  /** Whether every reply is to be the last of its connection. */
  readonly isClosing: () => boolean
  /** Called when a client sends very many requests ahead. */
  readonly onFlood: () => void
  readonly onRequestEnd: ((record: RequestRecord) => void) | undefined
  readonly onError: OnError
}

interface Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The client waits for `100 Continue` before it sends the body. */
  readonly isContinueAwaited: boolean
  /** When its head was complete. */
  readonly takenAt: number
  /** Whether it is being answered, and does not wait. */
  isBegun: boolean
  /** Whether the head of its reply was sent. */
  isAnswered: boolean
  /** Whether `onRequestEnd` was called for it. */
  isRecorded: boolean
}

/** Roughly the memory of a waiting request. */
const WAITING_BYTES = 4 * 1024

/** With so many requests waiting on one connection, it is a flood. */
const FLOOD_LENGTH = 16
/** How much is then parsed at a time: a few of the smallest requests; more in the middle of a body. */
const STEP_BYTES = 128
const BODY_STEP_BYTES = 8 * 1024
/** The memory of a paused connection: the read that is not parsed yet, and the next one in the socket. */
const READ_AHEAD_BYTES = 128 * 1024

export class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #outgoing: Outgoing
  /** A closed socket has forgotten it. */
  readonly #remoteAddress: string
  /** Parsed, but not begun. */
  readonly #waiting: Exchange[] = []
  /** What is being answered. */
  #current: Exchange | undefined
  /** The reply that is being sent. */
  #reply: Reply | undefined
  /** A reply is under way, or the next request is about to be begun. */
  #isBusy = false
  /** Node's own parser, once it gets a little at a time: see `parseInSteps`. */
  #parse: ((bytes: Buffer) => void) | undefined
  #mustStep = false
  /** Why nothing more can be read. The client is told when all earlier requests are answered. */
  #flaw: Flaw | undefined
  /** The request that has the flaw, where its head could be read. */
  #flawed: Exchange | undefined
  /** The client was told that this reply is the last: requests behind it must not be done. */
  #isEnding = false
  /** A request that was answered before all of its body came. */
  #passing: IncomingMessage | undefined
  /** A waiting request timed out because we did not read it: its time begins again when it is begun. */
  #isLate = false
  #idleSince = performance.now()
  /** When the head of the next request began to come, as far as known. The first has to come at once. */
  #headSince: number | undefined = this.#idleSince
  /** Bytes that belong to earlier requests. */
  #bytesBefore = 0
  /** Ends what the current request waits for; made when it begins to wait. */
  #hurrying: AbortController | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#remoteAddress = plainAddress(socket.remoteAddress ?? '')
    this.#outgoing = new Outgoing(socket, options, (bytes, isAborted) => this.#done(bytes, isAborted))
    // Node removes its own listener when it hands a socket over, as for CONNECT, and a reset may come at any time.
    socket.on('error', () => {})
    // Node resumes a socket whenever it has finished a request.
    socket.on('resume', () => {
      if (this.#isHeldBack) this.#holdBack()
      else if (this.#mustStep) this.parseInSteps()
    })
    // Bun ends a connection where Node closes it, and then waits for its client, even without reading what that sends.
    if (!options.isTimed) socket.once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
    // One who closes only half of a connection looks like one who is gone, and gets its answer now.
    socket.once('end', () => this.hurry())
    socket.once('close', () => {
      this.hurry()
      const unanswered = this.#waiting.splice(0)
      if (this.#flawed !== undefined && this.#flawed !== this.#current) unanswered.push(this.#flawed)
      for (const exchange of unanswered) this.#record(exchange)
    })
  }

  /** For how long nothing has been running. Browsers open connections in advance, and send nothing for a while. */
  get idleMs(): number {
    return this.#isBusy || this.#flaw !== undefined ? 0 : performance.now() - this.#idleSince
  }

  /** Requests that are being answered, and those that wait for that. */
  get load(): { readonly running: number; readonly waiting: number } {
    const running = this.#current?.isBegun === true ? 1 : 0
    return { running, waiting: this.#waiting.length + (this.#current?.isBegun === false ? 1 : 0) }
  }

  /** Whoever waits for something to happen before he answers should not. */
  hurry(): void {
    this.#hurrying?.abort()
  }

  /** Answers a request as soon as those before it are answered. */
  take(message: IncomingMessage, response: ServerResponse, isContinueAwaited: boolean): void {
    const isNew = { isBegun: false, isAnswered: false, isRecorded: false }
    const exchange: Exchange = { message, response, isContinueAwaited, takenAt: performance.now(), ...isNew }
    if (!this.#isBusy) {
      this.#isBusy = true
      this.#current = exchange
      if (isRead(exchange.message)) void this.#begin(exchange)
      else this.#options.throttle.begin(callerOf(exchange), () => void this.#begin(exchange))
      return
    }
    this.#waiting.push(exchange)
    this.#socket.pause()
    this.hurry()
    this.#outgoing.hold(exchange, WAITING_BYTES)
    if (this.#waiting.length === FLOOD_LENGTH && this.#parse === undefined) this.#options.onFlood()
  }

  /**
   * Node parses all of one read, up to 64 KiB, in one go: that can be thousands of requests, while everybody else waits. From
   * now on its parser gets a little at a time, and nothing while a request waits. That costs every request some
   * microseconds, so it is done only during a flood.
   */
  parseInSteps(): void {
    const socket = this.#socket
    const [parse] = socket.listeners('data')
    if (this.#parse !== undefined || parse === undefined || socket.destroyed) return
    // A socket that is paused while its 'data' listener changes would never be read again.
    this.#mustStep = socket.isPaused()
    if (this.#mustStep) return
    socket.off('data', parse as () => void)
    this.#parse = parse as (bytes: Buffer) => void
    socket.on('data', (bytes: Buffer) => this.#parseSome(bytes))
  }

  /** Ends the connection because of an error of its client, once all earlier requests are answered. */
  fail(code: string | undefined): void {
    if (this.#flaw !== undefined || this.#isEnding) return
    // Its request is answered already: a second reply would be taken for the reply to the next request.
    if (this.#passing?.complete === false) {
      this.#isEnding = true
      this.#socket.destroySoon()
      return
    }
    // It timed out because we do not read it. Node reports that only once.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#isHeldBack) {
      this.#isLate = true
      return
    }
    const last = this.#waiting.at(-1) ?? this.#current
    const isInBody = last !== undefined && !last.message.complete
    this.#flaw = flawOf(code, isInBody)
    if (isInBody) this.#flawed = last
    // If the client half-closes now, Node and Bun would close the connection after the current reply, before this error is sent.
    this.#socket.removeAllListeners('end')
    this.hurry()
    if (isInBody && last === this.#current) this.#endBroken(last)
    else if (isInBody) this.#unqueued(this.#waiting.pop())
    if (this.#isHeldBack) this.#holdBack()
    else if (!this.#isBusy) this.#refuse()
  }

  /** Ends the connection if its next request takes too long, where the HTTP server does not see to it. */
  checkTime(): void {
    if (this.#isBusy || this.#flaw !== undefined || this.#passing?.complete === false) return
    const now = performance.now()
    if (this.#socket.bytesRead > this.#bytesBefore) this.#headSince ??= now
    if (this.#headSince === undefined) {
      if (this.idleMs > KEEP_ALIVE_MS) this.#socket.destroySoon()
    } else if (now - this.#headSince >= this.#options.headTimeoutMs) this.fail('ERR_HTTP_REQUEST_TIMEOUT')
  }

  /** What came before the server began to close is answered, so nothing may wait behind the reply. */
  get #isLastOfAll(): boolean {
    return this.#options.isClosing() && !this.#isHeldBack && this.#flaw === undefined
  }

  /** Also behind a flaw that the client was not told yet: if Node read the end of the connection, it would close it before. */
  get #isHeldBack(): boolean {
    return this.#waiting.length > 0 || (this.#flaw !== undefined && this.#isBusy && !this.#socket.writableEnded)
  }

  /**
   * `pause` alone is not enough. Node resumes a socket when a request is complete, and emits 'resume' later: if the next request
   * paused it in between, the socket is read all the same, and `pause` does nothing because it counts as paused.
   */
  #holdBack(): void {
    if (this.#socket.isPaused()) this.#socket.emit('pause')
    else this.#socket.pause()
  }

  /** Parses until a request has to wait. The rest goes back into the socket, which then does not end before it is read. */
  #parseSome(bytes: Buffer): void {
    this.#outgoing.release(this.#socket)
    let rest = bytes
    while (rest.length > 0 && !this.#isHeldBack && this.#flaw === undefined) {
      const end = this.#current?.message.complete === false ? BODY_STEP_BYTES : STEP_BYTES
      this.#parse?.(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    if (!this.#isHeldBack) return
    this.#socket.pause()
    if (rest.length === 0) return
    this.#socket.unshift(rest)
    // Held under the socket's name, because the bytes are its own now.
    this.#outgoing.hold(this.#socket, READ_AHEAD_BYTES)
  }

  /** The body will never be complete: whoever reads it would wait forever. */
  #endBroken({ isAnswered }: Exchange): void {
    if (isAnswered) this.#socket.destroySoon()
    else this.#refuse()
  }

  #refuse(): void {
    if (this.#flaw === undefined || !this.#socket.writable) return
    const reply = this.#malformedReply(this.#flawed?.message, new Refusal(...this.#flaw))
    endWith(this.#socket, reply)
    // What the client still sends has to be read, or the system would reset the connection before the client has the reply.
    this.#socket.resume()
    this.#record(this.#flawed, reply, reply.body?.length)
  }

  async #begin(exchange: Exchange): Promise<void> {
    // The connection may have been lost while the request waited.
    if (!this.#socket.writable) {
      this.#record(exchange)
      return
    }
    this.#current = exchange
    exchange.isBegun = true
    const { message, response, isContinueAwaited } = exchange
    if ((this.#isLate || !this.#options.isTimed) && isBodyAwaited(message)) this.#awaitBody(message)
    try {
      const request = incomingFrom(message, response, isContinueAwaited, this.#remoteAddress, this.#signalOf)
      // The connection is closed behind a body that is not complete, and a client that is still sending it would lose the response.
      const isBodySent = !isContinueAwaited
      if (isBodySent && isRead(message) && isBodyAwaited(message)) await bodyEnd(message)
      const reply = await this.#options.reply(request)
      if (isBodyAwaited(message) && !isRead(message) && (isBodySent || !request.isLast())) await bodyEnd(message)
      this.#send(exchange, reply, request.isLast() || this.#isLastOfAll || isBodyAwaited(message))
    } catch (error) {
      this.#sendFailure(exchange, error)
    }
  }

  /** Nobody waits while another request is behind, or nothing can be heard from the client any more. */
  readonly #signalOf = (): AbortSignal => {
    this.#hurrying ??= new AbortController()
    const { destroyed, readableEnded } = this.#socket
    const isLast = destroyed || readableEnded || this.#flaw !== undefined || this.#options.isClosing()
    if (isLast || this.#isHeldBack) this.hurry()
    return this.#hurrying.signal
  }

  #awaitBody(message: IncomingMessage): void {
    this.#isLate = false
    const tooLate = setTimeout(() => this.fail('ERR_HTTP_REQUEST_TIMEOUT'), this.#options.requestTimeoutMs).unref()
    message.once('close', () => clearTimeout(tooLate))
  }

  #send(exchange: Exchange, reply: Reply, isLast: boolean): void {
    const { message, response } = exchange
    // Also when the request was refused in the meantime, because its body broke off.
    if (this.#socket.destroyed || !this.#socket.writable) {
      this.#record(exchange, reply, 0, true)
      reply.onSent?.()
      return
    }
    this.#reply = reply
    const isUsual = !isLast && response.shouldKeepAlive && isUsualGet(message)
    const joined = isUsual ? this.#outgoing.join(reply) : undefined
    if (joined === undefined)
      response.writeHead(reply.status, isLast ? { ...reply.headers, Connection: 'close' } : reply.headers)
    exchange.isAnswered = true
    this.#isEnding = isLast || !response.shouldKeepAlive
    if (joined === undefined) this.#outgoing.send(response, reply)
    else this.#outgoing.sendJoined(response, joined)
  }

  /** Must not throw: nobody would catch it. */
  #sendFailure(exchange: Exchange, error: unknown): void {
    const { message } = exchange
    const reply = this.#malformedReply(message, refusalOf(error))
    try {
      if (!(error instanceof Refusal))
        this.#options.onError(
          error,
          { method: message.method ?? '', target: message.url ?? '' },
          reply.facts?.requestId ?? '',
        )
      if (!exchange.isAnswered) {
        this.#send(exchange, reply, true)
        return
      }
    } catch {
      // Dropped like one whose head is out already.
    }
    this.#record(exchange, reply, 0, true)
    this.#outgoing.drop()
  }

  /** The reply has gone out. The next request begins in a later turn of the event loop, so that other connections get theirs. */
  #done(bytes: number, isAborted: boolean): void {
    this.#record(this.#current, this.#reply, bytes, isAborted)
    this.#reply = undefined
    this.#hurrying = undefined
    if (this.#current?.message.complete === false) this.#letPass(this.#current.message)
    this.#current = undefined
    if (this.#isEnding) return
    const [next] = this.#waiting
    if (next !== undefined) this.#options.throttle.beginLater(callerOf(next), () => this.#next())
    else if (this.#flaw !== undefined) this.#refuse()
    else {
      this.#isBusy = false
      this.#idleSince = performance.now()
      this.#awaitHead()
    }
  }

  /** The client may still send the rest of a body that nobody reads, but not for long. */
  #letPass(message: IncomingMessage): void {
    this.#passing = message
    const cutOff = setTimeout(() => this.#socket.destroySoon(), LINGER_MS).unref()
    message.once('close', () => {
      clearTimeout(cutOff)
      this.#awaitHead()
    })
    message.resume()
  }

  /** What was read up to here is not of the next request. */
  #awaitHead(): void {
    if (this.#options.isTimed) return
    this.#headSince = undefined
    this.#bytesBefore = this.#socket.bytesRead
  }

  #next(): void {
    // Waiting requests are released when the socket has closed.
    if (this.#socket.destroyed) return
    const exchange = this.#unqueued(this.#waiting.shift())
    if (exchange === undefined) this.#refuse()
    else void this.#begin(exchange)
    if (!this.#isHeldBack) this.#socket.resume()
  }

  /** Tells what became of a request, once. Without a reply: the connection broke before there was one. */
  #record(exchange: Exchange | undefined, reply?: Reply, bytes = 0, isAborted = reply === undefined): void {
    const { onRequestEnd } = this.#options
    if (onRequestEnd === undefined || exchange?.isRecorded === true) return
    if (exchange !== undefined) exchange.isRecorded = true
    const { method = '', url = '' } = exchange?.message ?? {}
    const facts = reply?.facts ?? this.#factsOf(exchange?.message)
    onRequestEnd({
      ...facts,
      method,
      path: pathIn(url),
      status: reply?.status ?? UNANSWERED,
      durationMs: exchange === undefined ? 0 : performance.now() - exchange.takenAt,
      bytes,
      ...(isAborted && { isAborted }),
    })
  }

  /** The facts of a request that did not get to the service. */
  #factsOf(message: IncomingMessage | undefined): RequestFacts {
    const requestId = requestIdOf(new RawHeaders(message?.rawHeaders ?? []))
    return { requestId, route: 'malformed', remoteAddress: this.#remoteAddress }
  }

  #malformedReply(message: IncomingMessage | undefined, refusal: Refusal): Reply {
    return problemReply(this.#options.baseUrl, this.#factsOf(message), refusal)
  }

  /** Releases the memory of a request that no longer waits. */
  #unqueued(exchange: Exchange | undefined): Exchange | undefined {
    if (exchange !== undefined) this.#outgoing.release(exchange)
    return exchange
  }
}

/** Not verified yet: it only keeps one caller from using the turns of another. */
function callerOf({ message }: Exchange): string {
  return message.headers.authorization ?? ''
}

type Flaw = readonly [problem: ProblemName, detail: string]

/** What is wrong with the head of a request, by the code of Node's error. */
const HEAD_FLAWS = new Map<string | undefined, Flaw>([
  [
    'HPE_HEADER_OVERFLOW',
    ['header-too-large', `The request line and headers are larger than ${MAX_HEADER_BYTES} bytes.`],
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The head of the request was not complete in time.']],
  ['HPE_INVALID_VERSION', ['http-version-not-supported', 'The request line does not end with HTTP/1.1 or HTTP/1.0.']],
  ['CONNECT', ['malformed-request', 'CONNECT is for proxies, and this is not one.']],
])

/** The same for its body. */
const BODY_FLAWS = new Map<string | undefined, Flaw>([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request-timeout', 'The body of the request was not complete in time.']],
  ['HPE_INVALID_EOF_STATE', ['invalid-body', 'The body is truncated.']],
])

export function flawOf(code: string | undefined, isInBody: boolean): Flaw {
  if (isInBody) return BODY_FLAWS.get(code) ?? ['malformed-request', 'The body is not valid HTTP/1.1.']
  return HEAD_FLAWS.get(code) ?? ['malformed-request', 'This is not an HTTP/1.1 request.']
}

/** Bun tells of a request before it calls it complete, also where there is no body. */
function isBodyAwaited({ complete, rawHeaders }: IncomingMessage): boolean {
  if (complete) return false
  const headers = new RawHeaders(rawHeaders)
  return headers.has('content-length') || headers.has('transfer-encoding')
}

/**
 * Resolves when the rest of a body that nobody reads has arrived, or after LINGER_MS. A proxy may reuse a connection after an early
 * response, although it has not sent all of the body: its next request would be taken for the rest. A GET waits before its page is
 * read: a page that waits for its client would be memory that nobody counts.
 */
function bodyEnd(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS)
    message.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    message.resume()
  })
}

/** Without the query, and without a host, before which a password may stand. Empty for what is no path. */
function pathIn(url: string): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = target.search(/[?#]/)
  const path = end === -1 ? target : target.slice(0, end)
  return path.startsWith('/') || path === '*' ? path : ''
}

/** Sends the reply by hand, and closes the connection. */
function endWith(socket: Socket, { status, headers, body }: Reply): void {
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`, ...lines, '', String(body)].join('\r\n'))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
