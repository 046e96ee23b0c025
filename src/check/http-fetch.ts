/** `fetch` over real sockets, without what the built-in one does on its own: it sends `Host` as given and unpacks nothing. */

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'

export interface HttpFetch {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends the connections that are kept open. */
  close(): void
}

/** Its body is as it came: still packed, where `Content-Encoding` says so. */
export class RawResponse extends Response {}

/**
 * The server closed a connection that it had kept open, maybe at the very moment at which the request went out: it is
 * worth asking again. From then on every request gets a connection of its own.
 */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection'
}

export function createHttpFetch(): HttpFetch {
  const kept = createAgents(true)
  const single = createAgents(false)
  let agents = kept
  return {
    fetch: async (request) => {
      const url = new URL(request.url)
      const { method, signal } = request
      const headers = Object.fromEntries(request.headers)
      const outgoing =
        url.protocol === 'https:'
          ? requestHttps(url, { method, headers, signal, agent: agents.https, servername: serverName(url) })
          : requestHttp(url, { method, headers, signal, agent: agents.http })
      try {
        return responseOf(await answerTo(outgoing), method)
      } catch (error) {
        if (error instanceof StaleConnection) agents = single
        throw error
      }
    },
    close: () => {
      for (const { http, https } of [kept, single]) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

/** The name for TLS is that of the URL: Node would take it from the Host header, which may be a strange one on purpose. */
function serverName({ hostname }: URL): string {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : ''
}

function createAgents(keepAlive: boolean) {
  return { http: new HttpAgent({ keepAlive }), https: new HttpsAgent({ keepAlive }) }
}

function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isStale ? new StaleConnection('the server closed a kept connection', { cause: error }) : error)
    })
    // Some servers answer a strange request by switching protocols: no answer to a GET.
    outgoing.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server switched to another protocol'))
    })
    outgoing.end()
  })
}

function responseOf(message: IncomingMessage, method: string): RawResponse {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2)
    headers.append(message.rawHeaders[i] ?? '', message.rawHeaders[i + 1] ?? '')
  const isBodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (isBodiless) message.resume()
  if (status < 200 || status > 599) {
    message.destroy()
    throw new Error(`the status ${status} is none of HTTP`)
  }
  // The bodies of Node and of the web are one class at run time, and two in the types.
  const body = isBodiless ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>)
  return new RawResponse(body, { status, statusText: statusText(message), headers })
}

/** What the server calls the status; a text that no `Response` takes is left out. */
function statusText({ statusMessage = '' }: IncomingMessage): string {
  return /^[\t\x20-\x7e]*$/.test(statusMessage) ? statusMessage : ''
}
