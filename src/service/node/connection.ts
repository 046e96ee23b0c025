/**
 * One connection. Its requests are answered one after the other, and it is read no further than it is answered: whoever
 * sends thousands ahead, or takes no reply, holds up nobody else.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Incoming, isRead } from '../incoming.ts'
import { LINGER_MS } from '../limits.ts'
import { problemReply, Refusal, refusalOf } from '../problem-reply.ts'
import type { Reply } from '../reply.ts'
import { bodyFlaw, type Flaw, headFlaw, refuse } from './broken-request.ts'
import { incomingFrom } from './node-request.ts'
import { Outgoing, type OutgoingOptions } from './outgoing.ts'
import type { WriteThrottle } from './write-throttle.ts'

/** What all connections of a server share. */
export interface ConnectionOptions extends OutgoingOptions {
  readonly reply: (request: Incoming) => Promise<Reply>
  readonly baseUrl: string
  readonly throttle: WriteThrottle
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
const BODY_STEP_BYTES = 8 * 1024
/** What is held of a connection that is not read any further: the read that is not parsed yet, and another one behind it. */
const READ_AHEAD_BYTES = 128 * 1024

export class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #outgoing: Outgoing
  /** Parsed, and not begun. */
  readonly #waiting: Exchange[] = []
  /** What is being answered. */
  #current: Exchange | undefined
  /** A reply is under way, or the next request is about to be begun. */
  #isBusy = false
  /** Node's own parser, where it gets a little at a time: see `parseInSteps`. */
  #parse: ((bytes: Buffer) => void) | undefined
  #mustStep = false
  /** Why nothing more can be read. It is told when all that came before is answered. */
  #flaw: Flaw | undefined
  /** The client was told that this reply is the last: what it asked for behind it must not be done. */
  #isEnding = false
  /** What was answered before all of it came. */
  #passing: IncomingMessage | undefined
  /** A request that waited had no time left: it gets as much again when it is begun. */
  #isLate = false

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#outgoing = new Outgoing(socket, options, () => this.#done())
    // Node takes its own listener off before it hands a socket over, as for CONNECT, and a reset may come at any time.
    socket.on('error', () => {})
    // Node resumes a socket whenever it is done with a request.
    socket.on('resume', () => {
      if (this.#isHeldBack) this.#holdBack()
      else if (this.#mustStep) this.parseInSteps()
    })
    socket.once('close', () => this.#waiting.splice(0))
  }

  /** Whether nothing is under way. Browsers open connections ahead of need, and send nothing for a while. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#flaw === undefined
  }

  /** Answers a request as soon as those before it are answered. */
  take(exchange: Exchange): void {
    if (!this.#isBusy) {
      this.#isBusy = true
      this.#current = exchange
      if (isRead(exchange.message)) void this.#begin(exchange)
      else this.#options.throttle.begin(callerOf(exchange), () => void this.#begin(exchange))
      return
    }
    this.#waiting.push(exchange)
    this.#socket.pause()
    this.#outgoing.hold(exchange, WAITING_BYTES)
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
    // The request that it belongs to is answered: another reply would be taken for that of the next.
    if (this.#passing?.complete === false) {
      this.#isEnding = true
      this.#socket.destroySoon()
      return
    }
    // It stands still because we do not read it. Node says so once.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#isHeldBack) {
      this.#isLate = true
      return
    }
    const last = this.#waiting.at(-1) ?? this.#current
    const isInBody = last !== undefined && !last.message.complete
    this.#flaw = (isInBody ? bodyFlaw : headFlaw)(code)
    if (isInBody && last === this.#current) this.#endBroken(last.response)
    else if (isInBody) this.#takeFrom(this.#waiting.pop())
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
    // The socket stands for what it holds unparsed.
    this.#outgoing.hold(this.#socket, READ_AHEAD_BYTES)
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

  #send(response: ServerResponse, reply: Reply, isLast: boolean): void {
    // Also where it was refused meanwhile, because its body broke off.
    if (this.#socket.destroyed || !this.#socket.writable) return
    response.writeHead(reply.status, isLast ? { ...reply.headers, Connection: 'close' } : reply.headers)
    this.#isEnding = isLast || !response.shouldKeepAlive
    this.#outgoing.send(response, reply)
  }

  /** Must not fail: nobody would catch it. */
  #sendFailure(response: ServerResponse, error: unknown): void {
    const { problem, message } = refusalOf(error)
    if (!(error instanceof Refusal)) console.error(error)
    try {
      if (response.headersSent) this.#outgoing.drop()
      else this.#send(response, problemReply(this.#options.baseUrl, problem, message), true)
    } catch {
      this.#outgoing.drop()
    }
  }

  /** The reply has gone out. The next one waits for a turn of the event loop, so that other connections have theirs. */
  #done(): void {
    if (this.#current?.message.complete === false) this.#letPass(this.#current.message)
    this.#current = undefined
    if (this.#isEnding) return
    const [next] = this.#waiting
    if (next !== undefined) this.#options.throttle.beginLater(callerOf(next), () => this.#next())
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
    const exchange = this.#takeFrom(this.#waiting.shift())
    if (exchange === undefined) this.#refuse()
    else void this.#begin(exchange)
    if (!this.#isHeldBack) this.#socket.resume()
  }

  /** It does not wait any longer. */
  #takeFrom(exchange: Exchange | undefined): Exchange | undefined {
    if (exchange !== undefined) this.#outgoing.release(exchange)
    return exchange
  }
}

/** Nobody has looked yet whether it is true. */
function callerOf({ message }: Exchange): string {
  return message.headers.authorization ?? ''
}
