/**
 * `fetch` over real sockets, for the checker, pull and push: it sends `Host` as given, follows no redirect, and takes less
 * work and far less memory a page than the built-in one.
 */

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createSecureContext, getCACertificates } from 'node:tls'
import { createGunzip } from 'node:zlib'

export interface SocketFetch extends Disposable {
  readonly fetch: (request: Request) => Promise<Response>
  /** From now on every request gets a connection of its own. */
  keepNoConnections(): void
}

/** Its body is as it came: still compressed if `Content-Encoding` says so. */
export class RawResponse extends Response {}

/** The server closed a connection that was kept open, perhaps just as the request went out: it is worth sending it again. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection'
}

export interface SocketFetchOptions {
  /** The Accept-Encoding to send; gzip bodies are then decompressed. Default: bodies are passed on as received. */
  readonly encoding?: 'gzip' | 'identity'
  /** Certificates of authorities to trust besides the usual ones, in PEM form. */
  readonly ca?: string | undefined
}

export function createSocketFetch({ encoding, ca }: SocketFetchOptions = {}): SocketFetch {
  const wanted = encoding === undefined ? {} : { 'accept-encoding': encoding }
  // Built once: reading all certificates is slow.
  const trust = ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates(), ca] }) }
  const kept = createAgents({ keepAlive: true, ...trust })
  const single = createAgents({ keepAlive: false, ...trust })
  let agents = kept
  return {
    fetch: async (request) => {
      const url = new URL(request.url)
      const { method, signal } = request
      const headers = { ...Object.fromEntries(request.headers), ...wanted }
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
      const outgoing =
        url.protocol === 'https:'
          ? requestHttps(url, { method, headers, signal, agent: agents.https, servername: serverName(url) })
          : requestHttp(url, { method, headers, signal, agent: agents.http })
      return responseOf(await responseTo(outgoing, body), method, encoding !== undefined)
    },
    keepNoConnections: () => {
      agents = single
    },
    [Symbol.dispose]: () => {
      for (const agent of [kept, single].flatMap(({ http, https }) => [http, https])) agent.destroy()
    },
  }
}

/** The name for TLS is that of the URL: Node would take it from the Host header, which may be a strange one on purpose. */
function serverName({ hostname }: URL): string {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : ''
}

function createAgents(options: HttpsAgentOptions) {
  return { http: new HttpAgent({ keepAlive: options.keepAlive }), https: new HttpsAgent(options) }
}

export const UNTRUSTED = 'its certificate is signed by an unknown authority'

/** Whether the certificate of the server is not signed by a trusted authority. */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNTRUSTED_CODES.includes(String(error.code))
}

const UNTRUSTED_CODES = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]

function responseTo(outgoing: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // Node.js advises a flag of its own, which the single executable does not take.
      if (isUntrusted(error)) error.message = UNTRUSTED
      const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isStale ? new StaleConnection('the server closed a kept connection', { cause: error }) : error)
    })
    // Some servers answer a strange request by switching protocols: no answer to a request of ours.
    outgoing.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server switched to another protocol'))
    })
    outgoing.end(body)
  })
}

function responseOf(message: IncomingMessage, method: string, isGunzipping: boolean): RawResponse {
  const { statusCode: status = 0, statusMessage = '', rawHeaders } = message
  if (status < 200 || status > 599) {
    message.destroy()
    throw new Error(`the status ${status} is not one of HTTP`)
  }
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  // `Response` rejects any other text.
  const statusText = /^[\t\x20-\x7e]*$/.test(statusMessage) ? statusMessage : ''
  const isBodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (isBodiless) message.resume()
  const isPacked = isGunzipping && /^(x-)?gzip$/i.test(message.headers['content-encoding'] ?? '')
  // An error of the message also ends the stream that unpacks it.
  const source = isPacked ? pipeline(message, createGunzip(), () => {}) : message
  return new RawResponse(isBodiless ? null : streamOf(source), { status, statusText, headers })
}

/** Without back-pressure: whoever asks reads as fast as it comes, up to a limit. */
function streamOf(source: Readable): ReadableStream<Uint8Array> {
  let isWanted = true
  return new ReadableStream({
    start: (controller) => {
      source.on('data', (chunk: Buffer) => isWanted && controller.enqueue(chunk))
      source.on('end', () => isWanted && controller.close())
      source.on('error', (error) => controller.error(error))
    },
    cancel: () => {
      isWanted = false
      source.destroy()
    },
  })
}
