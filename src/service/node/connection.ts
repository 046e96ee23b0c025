/**
 * One connection. Its requests are answered one after the other, and it is read no further than it is answered: whoever
 * sends thousands ahead, or takes no answer, holds up nobody else.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { internalError } from '../failure.ts'
import type { Incoming } from '../incoming.ts'
import { problemResponse } from '../problem-response.ts'
import type { Reply } from '../reply.ts'
import { bodyFlaw, type Flaw, headFlaw, LINGER_MS, refuse } from './broken-request.ts'
import { incomingFrom, RequestFlaw } from './node-request.ts'
import { portsOf } from './send-queues.ts'
import type { Turns } from './turns.ts'
import type { Holder, UnsentMemory } from './unsent-memory.ts'

/** What all connections of a server share. */
export interface ConnectionOptions {
  readonly reply: (request: Incoming) => Promise<Reply>
  readonly baseUrl: string
  readonly unsent: UnsentMemory
  readonly turns: Turns
  /** What a client has to take of an answer, once `sendGraceMs` are over. */
  readonly minBytesPerSecond: number
  readonly sendGraceMs: number
  /** For all of a request. */
  readonly requestTimeoutMs: number
  /** Told when very many requests come at once on a connection. */
  readonly onFlood: () => void
}

export interface Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The client sends the body only when it is asked to. */
  readonly isContinueAwaited: boolean
}

/** What a request that waits takes in memory, roughly. */
const WAITING_BYTES = 4 * 1024

/** Requests that wait on one connection: nobody sends so many ahead who does not mean to. */
const FLOOD_LENGTH = 16
/** What is then parsed at a time: a few of the smallest requests; more in the midst of a body. */
const STEP_BYTES = 128
/** What is held of a connection that is not read any further: the read that is not parsed yet, and another one behind it. */
const READ_AHEAD_BYTES = 128 * 1024
const BODY_STEP_BYTES = 8 * 1024

/** Bodies up to this size are sent in one piece. Of larger ones the next piece follows when the last is taken. */
const WHOLE_BYTES = 256 * 1024
const PIECE_BYTES = 64 * 1024
/** The system's buffer for a connection grows to 4 MB, and takes nothing more from us before a third of it is free. */
const SYSTEM_BYTES = 1536 * 1024

export class Connection implements Holder {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  /** Parsed, and not begun. */
  readonly #waiting: Exchange[] = []
  /** What is being answered. */
  #current: Exchange | undefined
  /** An answer is under way, or the next request is about to be begun. */
  #isBusy = false
  /** What it holds of the memory for unsent answers. */
  #unsent: { readonly thing: object; readonly bytes: number } | undefined
  /** When the client must have taken what was last written. */
  #deadlineAt = Number.POSITIVE_INFINITY
  /** Node's own parser, where it gets a little at a time: see `parseInSteps`. */
  #parse: ((bytes: Buffer) => void) | undefined
  #mustStep = false
  /** Why nothing more can be read. It is told when all that came before is answered. */
  #flaw: Flaw | undefined
  /** The client was told that this answer is the last: what it asked for behind it must not be done. */
  #isEnding = false
  /** What was answered before all of it came. */
  #passing: IncomingMessage | undefined
  /** Bytes that were read and are not parsed yet. */
  #unparsed: Buffer | undefined
  /** A request that waited had no time left: it gets as much again when it is begun. */
  #isLate = false

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    // Node takes its own listener off before it hands a socket over, as for CONNECT, and a reset may come at any time.
    socket.on('error', () => {})
    // Node resumes a socket whenever it is done with a request.
    socket.on('resume', () => {
      if (this.#isHeldBack) this.#holdBack()
      else if (this.#mustStep) this.parseInSteps()
    })
    socket.once('close', () => this.#releaseAll())
  }

  /** Whether nothing is under way. Browsers open connections ahead of need, and send nothing for a while. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#flaw === undefined
  }

  isTooSlow(now: number): boolean {
    return now > this.#deadlineAt
  }

  get handedOver(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength
  }

  get ports(): string {
    return portsOf(this.#socket.localPort, this.#socket.remotePort)
  }

  /** Answers a request as soon as those before it are answered. */
  take(exchange: Exchange): void {
    if (!this.#isBusy) {
      this.#isBusy = true
      this.#current = exchange
      if (isRead(exchange.message)) void this.#begin(exchange)
      else this.#options.turns.take(callerOf(exchange), () => void this.#begin(exchange))
      return
    }
    this.#waiting.push(exchange)
    this.#socket.pause()
    this.#options.unsent.hold(this, exchange, WAITING_BYTES)
    if (this.#waiting.length === FLOOD_LENGTH && this.#parse === undefined) this.#options.onFlood()
  }

  /**
   * Node parses all that comes in one read, up to 64 KiB, which can be thousands of requests and takes it as many times as
   * long as answering one. From now on it is given a little at a time, and no more while a request waits. That costs every
   * request some microseconds, so it is done only since somebody floods us.
   */
  parseInSteps(): void {
    const socket = this.#socket
    const [parse] = socket.listeners('data')
    if (this.#parse !== undefined || parse === undefined || socket.destroyed) return
    // A socket that is paused when its reader changes would never be read again.
    this.#mustStep = socket.isPaused()
    if (this.#mustStep) return
    socket.off('data', parse as () => void)
    this.#parse = parse as (bytes: Buffer) => void
    socket.on('data', (bytes: Buffer) => this.#parseSome(bytes))
  }

  /** Ends the connection because of what came over it, after what came before was answered. */
  fail(code: string | undefined): void {
    if (this.#flaw !== undefined || this.#isEnding) return
    // The request that it belongs to is answered: another answer would be taken for that of the next.
    if (this.#passing?.complete === false) {
      this.#isEnding = true
      this.#socket.destroySoon()
      return
    }
    // It stands still because we do not read it. Node says so once.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#waiting.length > 0) {
      this.#isLate = true
      return
    }
    const last = this.#waiting.at(-1) ?? this.#current
    const isInBody = last !== undefined && !last.message.complete
    this.#flaw = (isInBody ? bodyFlaw : headFlaw)(code)
    if (isInBody && last === this.#current) this.#endBroken(last.response)
    else if (isInBody) this.#release(this.#waiting.pop())
    if (!this.#isBusy) this.#refuse()
  }

  get #isHeldBack(): boolean {
    return this.#waiting.length > 0
  }

  /**
   * Not `pause` alone. Node resumes a socket when a request is complete, and tells that later: if the next one had it paused
   * meanwhile, it is read in spite of that, without end, and `pause` does nothing because it is paused already.
   */
  #holdBack(): void {
    if (this.#socket.isPaused()) this.#socket.emit('pause')
    else this.#socket.pause()
  }

  /** Until a request waits for another. The rest goes back into the socket, which then does not end before it is read. */
  #parseSome(bytes: Buffer): void {
    this.#releaseUnparsed()
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
    this.#unparsed = rest
    this.#options.unsent.hold(this, rest, READ_AHEAD_BYTES)
  }

  drop(): void {
    this.#releaseAll()
    this.#socket.resetAndDestroy()
  }

  /** The body will never be whole: whoever reads it would wait for ever. */
  #endBroken(response: ServerResponse): void {
    if (response.headersSent) this.#socket.destroySoon()
    else this.#refuse()
  }

  #refuse(): void {
    if (this.#flaw !== undefined) refuse(this.#socket, this.#options.baseUrl, this.#flaw)
  }

  async #begin(exchange: Exchange): Promise<void> {
    // It may have broken off while it waited for its turn.
    if (!this.#socket.writable) return
    this.#current = exchange
    const { message, response, isContinueAwaited } = exchange
    if (this.#isLate && !message.complete) this.#awaitBody(message)
    try {
      const request = incomingFrom(message, response, isContinueAwaited)
      const reply = await this.#options.reply(request)
      this.#send(response, reply, request.isLast())
    } catch (error) {
      this.#sendFailure(response, error)
    }
  }

  #awaitBody(message: IncomingMessage): void {
    this.#isLate = false
    const tooLate = setTimeout(() => this.fail('ERR_HTTP_REQUEST_TIMEOUT'), this.#options.requestTimeoutMs).unref()
    message.once('close', () => clearTimeout(tooLate))
  }

  /** Must not fail: nobody would catch it. */
  #sendFailure(response: ServerResponse, error: unknown): void {
    const { baseUrl } = this.#options
    const isFlaw = error instanceof RequestFlaw
    if (!isFlaw) console.error(error)
    try {
      if (response.headersSent) this.drop()
      else if (isFlaw) this.#send(response, problemResponse(baseUrl, 'malformed-request', error.message), true)
      else this.#send(response, internalError(baseUrl), true)
    } catch {
      this.drop()
    }
  }

  #send(response: ServerResponse, { status, headers, body, onSent }: Reply, isLast: boolean): void {
    // Also where it was refused meanwhile, because its body broke off.
    if (this.#socket.destroyed || !this.#socket.writable) return
    response.writeHead(status, isLast ? { ...headers, Connection: 'close' } : headers)
    this.#isEnding = isLast || !response.shouldKeepAlive
    if (body === null || typeof body === 'string' || body.length <= WHOLE_BYTES || response.req.method === 'HEAD') {
      response.end(body, onSent)
      // Nearly always the system has taken all of it by now.
      if (response.writableLength === 0) this.#done()
      else this.#awaitClient(response, typeof body === 'object' && body !== null ? body : response)
    } else {
      this.#awaitClient(response, body)
      this.#sendPiece(response, body, 0, onSent)
    }
  }

  #sendPiece(response: ServerResponse, body: Uint8Array, start: number, onSent: (() => void) | undefined): void {
    const end = start + PIECE_BYTES
    this.#expect(Math.min(PIECE_BYTES, body.length - start))
    if (end >= body.length) response.end(body.subarray(start), onSent)
    else
      response.write(body.subarray(start, end), (error) => {
        if (!error) this.#sendPiece(response, body, end, onSent)
      })
  }

  #awaitClient(response: ServerResponse, thing: object): void {
    const bytes = thing instanceof Uint8Array ? thing.length : response.writableLength
    response.once('close', () => this.#done())
    this.#expect(bytes)
    this.#unsent = { thing, bytes }
    this.#options.unsent.hold(this, thing, bytes)
  }

  #expect(bytes: number): void {
    const { sendGraceMs, minBytesPerSecond } = this.#options
    this.#deadlineAt = performance.now() + sendGraceMs + ((bytes + SYSTEM_BYTES) * 1_000) / minBytesPerSecond
  }

  /** The answer has gone out. The next one waits for a turn of the event loop, so that other connections have theirs. */
  #done(): void {
    this.#deadlineAt = Number.POSITIVE_INFINITY
    if (this.#current?.message.complete === false) this.#letPass(this.#current.message)
    this.#current = undefined
    this.#releaseUnsent()
    if (this.#isEnding) return
    const [next] = this.#waiting
    if (next !== undefined) this.#options.turns.await(callerOf(next), () => this.#next())
    else if (this.#flaw !== undefined) this.#refuse()
    else this.#isBusy = false
  }

  /** The client may still send the rest of a body that nobody wants, but not for long. */
  #letPass(message: IncomingMessage): void {
    this.#passing = message
    const cutOff = setTimeout(() => this.#socket.destroySoon(), LINGER_MS).unref()
    message.once('close', () => clearTimeout(cutOff))
    message.resume()
  }

  #next(): void {
    // What still waits is released when the socket has closed.
    if (this.#socket.destroyed) return
    const exchange = this.#waiting.shift()
    this.#release(exchange)
    if (exchange === undefined) this.#refuse()
    else void this.#begin(exchange)
    if (!this.#isHeldBack) this.#socket.resume()
  }

  #release(exchange: Exchange | undefined): void {
    if (exchange !== undefined) this.#options.unsent.release(this, exchange, WAITING_BYTES)
  }

  #releaseUnsent(): void {
    const unsent = this.#unsent
    this.#unsent = undefined
    if (unsent !== undefined) this.#options.unsent.release(this, unsent.thing, unsent.bytes)
  }

  #releaseUnparsed(): void {
    const unparsed = this.#unparsed
    this.#unparsed = undefined
    if (unparsed !== undefined) this.#options.unsent.release(this, unparsed, READ_AHEAD_BYTES)
  }

  #releaseAll(): void {
    this.#deadlineAt = Number.POSITIVE_INFINITY
    this.#releaseUnsent()
    this.#releaseUnparsed()
    for (const exchange of this.#waiting.splice(0)) this.#release(exchange)
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Nobody has looked yet whether it is true. */
function callerOf({ message }: Exchange): string {
  return message.headers.authorization ?? ''
}
