/** Puts a `fetch` function on a port. With `broken-request.ts`, the only file that knows `node:http`. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { HEADER_BYTES, refuse, refuseBody } from './broken-request.ts'
import { internalError } from './failure.ts'
import type { Incoming } from './incoming.ts'
import { plainRequest } from './plain-request.ts'
import { problemBody, problemHeaders, problemResponse } from './problem-response.ts'
import { type Reply, responseOf } from './reply.ts'
import { Turns } from './turns.ts'

/** Longer than the minute for which load balancers keep a connection: they shall close it, not we while they use it. */
export const KEEP_ALIVE_MS = 65_000
/** A client that takes nothing of its answer for so long is gone. */
export const STALLED_MS = 120_000
/** For the head of a request, and for all of it. */
export const HEAD_MS = 60_000
export const REQUEST_MS = 300_000
const IDLE_POLL_MS = 20
/** Writes that are begun in one round of the event loop: about a millisecond, for which a read may have to wait. */
const WRITES_A_ROUND = 4

export interface ListenOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Where a service offers it, ordinary reads go this shorter way. */
  readonly reply?: (request: Incoming) => Promise<Reply>
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0 takes any free one. Default 8080. */
  readonly port?: number
  /** For the `type` of the problems of requests too broken to reach `fetch`. Default: the address listened on. */
  readonly baseUrl?: string
  /** How long a client may take to send the head of its request. Default 60,000. */
  readonly headersTimeoutMs?: number
  /** How long it may take to send all of it. Default 300,000. */
  readonly requestTimeoutMs?: number
}

export interface Listening {
  readonly port: number
  readonly address: string
  /** Takes no more connections, lets running requests end, and cuts off what is left after `graceMs` (default 5,000). */
  readonly close: (graceMs?: number) => Promise<void>
}

/** Puts a service on a port. Rejects with the system's own error and its `code` when the port cannot be had. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { fetch, host = '127.0.0.1', port = 8080, headersTimeoutMs = HEAD_MS, requestTimeoutMs = REQUEST_MS } = options
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, requestTimeoutMs, 10_000),
    requireHostHeader: false, // checked below, to answer with a problem
  })
  server.setTimeout(STALLED_MS)
  server.listen(port, host)
  await once(server, 'listening')
  const bound = addressOf(server)
  const baseUrl = options.baseUrl ?? urlOf(bound)

  /** Every open connection, with its latest answer. */
  const latestAnswers = new Map<Socket, ServerResponse | undefined>()
  server.on('connection', (socket) => {
    latestAnswers.set(socket, undefined)
    socket.once('close', () => latestAnswers.delete(socket))
  })
  const answer = createAnswer(fetch, baseUrl)
  const answerRead = createReadAnswer(options.reply, answer, baseUrl)
  const writes = new Turns(WRITES_A_ROUND)
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    const previous = latestAnswers.get(socket)
    latestAnswers.set(socket, outgoing)
    const flaw = hostFlaw(incoming)
    if (flaw !== undefined) {
      const body = problemBody(baseUrl, 'malformed-request', flaw)
      outgoing.writeHead(400, { ...problemHeaders(body), Connection: 'close' }).end(body)
    } else if (incoming.method !== 'GET' && incoming.method !== 'HEAD') writes.take(() => answer(incoming, outgoing))
    else if (previous === undefined || previous.writableFinished) answerRead(incoming, outgoing)
    // A client may send thousands of requests ahead and take no answer: the next one is made when the last has gone out.
    else previous.once('close', () => socket.destroyed || answerRead(incoming, outgoing))
  }
  server.on('request', onRequest)
  // An expectation that nobody knows may be ignored; Node would answer 417 without a problem.
  server.on('checkExpectation', onRequest)
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // Not before somebody reads the body: who is refused need not send it.
    incoming.once('resume', () => {
      if (!outgoing.headersSent) outgoing.writeContinue()
    })
    onRequest(incoming, outgoing)
  })
  server.on('connect', (_incoming, socket: Socket) => refuse(socket, baseUrl, 'CONNECT'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const latest = latestAnswers.get(socket)
    if (latest !== undefined && !latest.req.complete) refuseBody(latest, socket, baseUrl, error.code)
    // A client may send a broken request behind a good one, whose answer comes first.
    else if (latest === undefined || latest.writableFinished) refuse(socket, baseUrl, error.code)
    else latest.once('finish', () => refuse(socket, baseUrl, error.code))
  })

  let closed: Promise<void> | undefined
  return { ...bound, close: (graceMs = 5_000) => (closed ??= close(server, latestAnswers, graceMs)) }
}

/** What answers a request that could be parsed. It puts its own, faster Request and Response in place of the global ones. */
function createAnswer(fetch: ListenOptions['fetch'], baseUrl: string): ReturnType<typeof getRequestListener> {
  return getRequestListener((request) => fetch(request), {
    hostname: 'localhost', // in place of the Host that HTTP/1.0 may leave out; it reaches no link
    errorHandler: (error) => {
      if (error instanceof RequestError)
        return responseOf(
          problemResponse(baseUrl, 'malformed-request', 'The request target or the Host header is not valid.'),
        )
      console.error(error)
      return responseOf(internalError(baseUrl))
    },
  })
}

/** Reads, mostly of pages, without the forms of the web in between. */
function createReadAnswer(
  reply: ListenOptions['reply'],
  answer: ReturnType<typeof createAnswer>,
  baseUrl: string,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  if (reply === undefined) return answer
  return (incoming, outgoing) => {
    const request = plainRequest(incoming)
    if (request === undefined) answer(incoming, outgoing)
    else
      reply(request)
        .then((answered) => send(outgoing, answered))
        .catch((error: unknown) => {
          console.error(error)
          if (outgoing.headersSent) outgoing.destroy()
          else send(outgoing, internalError(baseUrl))
        })
  }
}

function send(outgoing: ServerResponse, { status, headers, body, onSent }: Reply): void {
  outgoing.writeHead(status, headers).end(body, onSent)
}

async function close(
  server: Server,
  latestAnswers: ReadonlyMap<Socket, ServerResponse | undefined>,
  graceMs: number,
): Promise<void> {
  const closed = once(server, 'close')
  // Not the HTTP server's own close: it counts a connection as idle whose answer is still on its way out.
  NetServer.prototype.close.call(server)
  const closeIdle = (): void => {
    // Browsers open connections ahead of need. The server does not count one as idle before its first request.
    for (const [socket, latest] of latestAnswers)
      if (latest?.writableFinished === true || socket.bytesRead === 0) socket.destroy()
  }
  closeIdle()
  const poll = setInterval(closeIdle, IDLE_POLL_MS)
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(poll)
  clearTimeout(cutOff)
}

/** HTTP/1.1 asks for exactly one Host, HTTP/1.0 for none: the health checks of some load balancers come without. */
function hostFlaw(incoming: IncomingMessage): string | undefined {
  const { rawHeaders } = incoming
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at] ?? '')) count++
  if (count > 1) return `The request has ${count} Host headers.`
  return count === 0 && incoming.httpVersion !== '1.0' ? 'The request has no Host header.' : undefined
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'host'
}

interface Bound {
  readonly address: string
  readonly port: number
}

function addressOf(server: Server): Bound {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The server is not listening on a port.')
  return { address: bound.address, port: bound.port }
}

function urlOf({ address, port }: Bound): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
