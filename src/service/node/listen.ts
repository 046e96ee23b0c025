/** Puts a service on a port. This folder alone knows `node:http`; embedded, your server does its work. */

import { constants } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { Server as SecureServer, type TlsOptions } from 'node:tls'
import { availableMemory, planMemory } from '../../memory/memory-plan.ts'
import type { Incoming } from '../incoming.ts'
import * as limits from '../limits.ts'
import type { Reply } from '../reply.ts'
import type { OnError, RequestRecord } from '../request-record.ts'
import { createServers } from './acceptor.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { maxConnections } from './linux-proc.ts'
import { UnsentMemory } from './unsent-memory.ts'
import { WriteThrottle } from './write-throttle.ts'

/** How long connections are parsed in steps after a flood. */
const FLOOD_MS = 60_000
/** Connections that wait to be accepted. A turn of the event loop accepts one, so Node's default of 511 overflows in a rush. */
const BACKLOG = 4_096
const IDLE_POLL_MS = 20
/**
 * A closing server closes idle connections once none has been used for this long. A proxy may send a POST on any of them at the
 * moment it is closed, and does not retry a POST. Each request that still arrives is answered with `Connection: close`, so the
 * proxy works its way through all connections that it kept, down to those that were idle longest.
 */
const QUIET_MS = 500
/** A turn of the event loop this short did nothing. During a longer one, more connections may have arrived. */
const SHORT_TURN_MS = 0.1
/** How long to wait for a turn that did nothing. */
const MAX_WAIT_MS = 500

/** A certificate, with those that vouch for it, and its private key, in PEM form. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

/**
 * No renegotiation: a client could make us do handshakes again and again on one connection. OpenSSL needs to be told; Bun's library
 * never renegotiates. ALPN names no protocol but ours, so that data for another one cannot be sent here.
 */
const TLS_RULES = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION ?? 0,
  ALPNProtocols: ['http/1.1'],
} as const satisfies TlsOptions

export interface ListenOptions {
  /** From the service: `listen({ ...createService({ store }), port })`. */
  readonly reply: (request: Incoming) => Promise<Reply>
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0 takes any free one. Default 8080. */
  readonly port?: number
  /** For the `type` of problems with requests too broken to reach the service. Default: the address listened on. */
  readonly baseUrl?: string
  /** Serves https, with TLS 1.2 or later. Default: plain http. */
  readonly tls?: TlsPair
  /** How long a client may take to send the head of its request. Default 60,000. */
  readonly headersTimeoutMs?: number
  /** How long it may take to send all of it. Default 300,000. */
  readonly requestTimeoutMs?: number
  /**
   * Memory for replies that clients are slow to read; above it the slowest are disconnected. Default: 256 MiB, or less with less
   * than 2 GB of memory.
   */
  readonly unsentBytes?: number
  /** How many processes such as this one share the memory of the machine: that default is for one of them. Default 1. */
  readonly workers?: number
  /** A client that reads its reply more slowly than this is disconnected. Default 16,384. */
  readonly minBytesPerSecond?: number
  /** How long it may read nothing before that counts. Default 10,000. */
  readonly sendGraceMs?: number
  /** Called once for every request, when its reply has been handed over or the connection broke. Must not throw. */
  readonly onRequestEnd?: (record: RequestRecord) => void
  /** Called with what should not happen at all. Default: prints its stack to stderr. */
  readonly onError?: OnError
}

/** How busy a server is at this moment. */
export interface ServerLoad {
  /** Open connections, also those that are idle. */
  readonly connections: number
  /** Requests that are being answered. */
  readonly runningRequests: number
  /** Requests that have come, and wait to be begun. */
  readonly waitingRequests: number
}

export interface Listening {
  readonly port: number
  readonly address: string
  readonly load: () => ServerLoad
  /** New connections get this certificate. Only for a server with `tls`. */
  readonly renewTls: (pair: TlsPair) => void
  /**
   * Accepts no more connections, ends long polls, lets running requests finish, and cuts off what is left after `graceMs`
   * (default 5,000). A request on an idle connection still gets a response, with `Connection: close`; idle connections are closed
   * once none has been used for half a second. Resolves with the number of requests that were cut off.
   */
  readonly close: (graceMs?: number) => Promise<number>
}

/** Puts a service on a port. Rejects with the system's own error and its `code` when the port cannot be had. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { reply, host = '127.0.0.1', port = 8080 } = options
  const { headersTimeoutMs = limits.HEAD_TIMEOUT_MS, requestTimeoutMs = limits.REQUEST_TIMEOUT_MS } = options
  const { minBytesPerSecond = limits.MIN_BYTES_PER_SECOND, sendGraceMs = limits.SEND_GRACE_MS } = options
  const headTimeoutMs = Math.min(headersTimeoutMs, requestTimeoutMs)
  const checkIntervalMs = Math.min(headTimeoutMs, 10_000)
  const http = {
    maxHeaderSize: limits.MAX_HEADER_BYTES,
    keepAliveTimeout: limits.KEEP_ALIVE_MS,
    headersTimeout: headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: checkIntervalMs,
    requireHostHeader: false, // checked in node-request.ts, to answer with a problem
  }
  const handshake = { allowHalfOpen: true, handshakeTimeout: headTimeoutMs }
  const tls = options.tls && { ...TLS_RULES, ...handshake, ...options.tls }
  const { acceptor, parser, isTimed } = createServers(http, tls)
  // A client may half-close the connection after its request, and still wait for the reply. Connections above the limit are
  // closed at once: a cluster worker that leaves one unaccepted is never given another.
  Object.assign(parser, { httpAllowHalfOpen: true })
  Object.assign(acceptor, { maxConnections: maxConnections(), dropMaxConnection: true })
  const connections = new Map<Socket, Connection>()
  let floodedAt = Number.NEGATIVE_INFINITY
  const onFlood = (): void => {
    floodedAt = performance.now()
    for (const connection of connections.values()) connection.parseInSteps()
  }
  const unsent = new UnsentMemory(options.unsentBytes ?? planMemory(availableMemory(), options.workers).unsentBytes)
  const throttle = new WriteThrottle()
  let [accepted, isClosing] = [0, false]
  let shared: ConnectionOptions | undefined
  /** Those that have not finished the TLS handshake. */
  const unfinished = new Map<string, Socket>()
  acceptor.on('connection', () => accepted++)
  if (options.tls)
    acceptor.on('connection', (socket) => {
      const client = clientOf(socket)
      unfinished.set(client, socket)
      socket.once('close', () => {
        if (unfinished.get(client) === socket) unfinished.delete(client)
      })
    })
  acceptor.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    unfinished.delete(clientOf(socket))
    shared ??= {
      reply,
      baseUrl: options.baseUrl ?? urlOf(addressOf(acceptor), options.tls !== undefined),
      unsent,
      throttle,
      minBytesPerSecond,
      sendGraceMs,
      requestTimeoutMs,
      headTimeoutMs,
      isTimed,
      onFlood,
      onRequestEnd: options.onRequestEnd,
      onError: options.onError ?? ((error) => console.error(error)),
      isClosing: () => isClosing,
    }
    const connection = new Connection(socket, shared)
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
    if (performance.now() - floodedAt < FLOOD_MS) connection.parseInSteps()
  })
  const take = (message: IncomingMessage, response: ServerResponse, isContinueAwaited: boolean): void =>
    connections.get(message.socket)?.take(message, response, isContinueAwaited)
  parser.on('request', (message, response) => take(message, response, false))
  // An unknown expectation may be ignored. Node would answer 417, without problem details.
  parser.on('checkExpectation', (message, response) => take(message, response, false))
  parser.on('checkContinue', (message, response) => take(message, response, true))
  parser.on('connect', (_message, socket: Socket) => connections.get(socket)?.fail('CONNECT'))
  parser.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.get(socket)
    // Without a handshake nothing can be said that the client would understand.
    if (connection === undefined) socket.destroy()
    else connection.fail(error.code)
  })
  // After all listeners are attached: a cluster worker may get a connection before it is told that it listens.
  acceptor.listen({ port, host, backlog: BACKLOG })
  await once(acceptor, 'listening')
  const bound = addressOf(acceptor)
  const watch = setInterval(() => unsent.dropSlow(), Math.max(IDLE_POLL_MS, Math.min(1_000, sendGraceMs / 2))).unref()
  const checkTimes = (): void => {
    for (const connection of connections.values()) connection.checkTime()
  }
  const clock = isTimed ? undefined : setInterval(checkTimes, checkIntervalMs).unref()

  let closed: Promise<number> | undefined
  const close = async (graceMs: number): Promise<number> => {
    await acceptWaiting(() => accepted)
    isClosing = true
    for (const connection of connections.values()) connection.hurry()
    const cut = await closeServer(acceptor, connections, unfinished, graceMs)
    clearInterval(watch)
    clearInterval(clock)
    return cut
  }
  const renewTls = (pair: TlsPair): void => {
    if (acceptor instanceof SecureServer) acceptor.setSecureContext({ ...TLS_RULES, ...pair })
  }
  const load = (): ServerLoad => {
    const loads = [...connections.values()].map((connection) => connection.load)
    const sum = (part: 'running' | 'waiting') => loads.reduce((total, each) => total + each[part], 0)
    return { connections: loads.length, runningRequests: sum('running'), waitingRequests: sum('waiting') }
  }
  return { ...bound, load, renewTls, close: (graceMs = 5_000) => (closed ??= close(graceMs)) }
}

/**
 * Resolves when no connection waits to be accepted: closing the port would reset it. Each turn of the event loop accepts one, so
 * none waits after a turn without events, or after a short one that did not add to `countAccepted`.
 */
export async function acceptWaiting(countAccepted?: () => number): Promise<void> {
  const startedAt = performance.now()
  for (let now = startedAt; now - startedAt < MAX_WAIT_MS; ) {
    const [events, accepted] = [countEvents(), countAccepted?.()]
    await setImmediate()
    const turnMs = performance.now() - now
    now += turnMs
    if (events !== undefined && countEvents() === events) return
    const canTell = countAccepted !== undefined || events === undefined
    if (canTell && turnMs < SHORT_TURN_MS && countAccepted?.() === accepted) return
  }
}

/** Events that the event loop has handled so far. Bun does not count them. */
function countEvents(): number | undefined {
  return performance.nodeTiming?.uvMetricsInfo?.events
}

async function closeServer(
  server: NetServer,
  connections: ReadonlyMap<Socket, Connection>,
  unfinished: ReadonlyMap<string, Socket>,
  graceMs: number,
): Promise<number> {
  const closed = once(server, 'close')
  // Not the HTTP server's own close: it closes idle connections, and counts one as idle whose reply is still being sent.
  NetServer.prototype.close.call(server)
  let [quietMs, lookedAt, openBefore] = [0, performance.now(), connections.size]
  const closeIdle = (): void => {
    const now = performance.now()
    // While this process does not run, it cannot read what arrives: such a time does not count.
    quietMs += Math.min(now - lookedAt, 2 * IDLE_POLL_MS)
    lookedAt = now
    // A connection is closed after its last reply, so a smaller number means that one was used.
    if (connections.size < openBefore) quietMs = 0
    openBefore = connections.size
    if (quietMs <= QUIET_MS) return
    for (const socket of unfinished.values()) socket.destroy()
    for (const [socket, { idleMs }] of connections) if (idleMs > QUIET_MS && !socket.writableEnded) socket.destroySoon()
  }
  // An immediate runs after everything that has arrived was read, a timer before.
  const poll = setInterval(() => void setImmediate().then(closeIdle), IDLE_POLL_MS)
  let cut = 0
  const cutOff = setTimeout(() => {
    cut = [...connections.values()].filter(({ idleMs }) => idleMs === 0).length
    for (const socket of [...connections.keys(), ...unfinished.values()]) socket.destroy()
  }, graceMs)
  await closed
  clearInterval(poll)
  clearTimeout(cutOff)
  return cut
}

interface Bound {
  readonly address: string
  readonly port: number
}

function addressOf(server: NetServer): Bound {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The server is not listening on a port.')
  return { address: bound.address, port: bound.port }
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function urlOf({ address, port }: Bound, isEncrypted: boolean): string {
  return `${isEncrypted ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}:${port}`
}
