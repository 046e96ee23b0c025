/**
 * The server that accepts connections, and the one that parses their requests. In Node they are the same.
 *
 * Bun's own HTTP server parses all that one read brings, however many requests that are, and closes connections that were in use a
 * moment ago when it stops. So on Bun a plain server accepts, and hands its connections to an HTTP server that does not listen.
 */

import type { Server, ServerOptions } from 'node:http'
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { http } from './http-module.ts'

export interface Servers {
  /** Listens, and is closed. */
  readonly acceptor: NetServer
  /** Emits requests, and what is wrong with them. */
  readonly parser: Server
  /** Whether `parser` limits how long a client may take for its request, and how long a connection may be idle. */
  readonly isTimed: boolean
}

export const isBun = process.versions['bun'] !== undefined

export function createServers(options: ServerOptions, tls: TlsOptions | undefined): Servers {
  if (!isBun) {
    const server = tls
      ? process.getBuiltinModule('node:https').createServer({ ...options, ...tls })
      : http.createServer(options)
    return { acceptor: server, parser: server, isTimed: true }
  }
  const parser = http.createServer(options)
  const acceptor = tls ? createTlsServer(tls) : createNetServer({ allowHalfOpen: true, noDelay: true })
  acceptor.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => parser.emit('connection', socket))
  // As an HTTPS server of Node does.
  acceptor.on('tlsClientError', (error: Error, socket: Socket) => parser.emit('clientError', error, socket))
  return { acceptor, parser, isTimed: false }
}
