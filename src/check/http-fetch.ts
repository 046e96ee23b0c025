/** `fetch` over real sockets, without what the built-in one does on its own: it sends `Host` as given and unpacks nothing. */

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'

export interface HttpFetch {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends the connections that are kept open. */
  close(): void
}

export function createHttpFetch(): HttpFetch {
  const http = new HttpAgent({ keepAlive: true })
  const https = new HttpsAgent({ keepAlive: true })
  return {
    fetch: async (request) => {
      const url = new URL(request.url)
      const { method, signal } = request
      const headers = Object.fromEntries(request.headers)
      const send = () =>
        url.protocol === 'https:'
          ? requestHttps(url, { method, headers, signal, agent: https })
          : requestHttp(url, { method, headers, signal, agent: http })
      return responseOf(await answerTo(send), method)
    },
    close: () => {
      http.destroy()
      https.destroy()
    },
  }
}

function answerTo(send: () => ReturnType<typeof requestHttp>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = send()
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    // Some servers answer a strange request by switching protocols: no answer to a GET.
    outgoing.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server switched to another protocol'))
    })
    outgoing.end()
  })
}

function responseOf(message: IncomingMessage, method: string): Response {
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
  return new Response(body, { status, statusText: statusText(message), headers })
}

/** What the server calls the status; a text that no `Response` takes is left out. */
function statusText({ statusMessage = '' }: IncomingMessage): string {
  return /^[\t\x20-\x7e]*$/.test(statusMessage) ? statusMessage : ''
}
