/** `fetch` over real sockets: it sends `Host` as given, follows no redirect and decompresses nothing. */

import { Readable } from 'node:stream'
import { Agent, buildConnector, type Dispatcher } from 'undici'

export interface SocketFetch {
  readonly fetch: (request: Request) => Promise<Response>
  /** Closes the connections that are kept open. */
  close(): Promise<unknown>
}

/** Its body is as it came: still compressed if `Content-Encoding` says so. */
export class RawResponse extends Response {}

/**
 * The server closed a connection that was kept open, perhaps just as the request went out: it is worth sending it again.
 * From then on every request gets a connection of its own.
 */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection'
}

export function createSocketFetch(): SocketFetch {
  const kept = createAgent(1)
  const single = createAgent(0)
  let agent = kept
  return {
    fetch: async ({ url, method, headers, signal }) => {
      const { origin, pathname, search } = new URL(url)
      const target = { origin, path: pathname + search, method: method as Dispatcher.HttpMethod, signal }
      const isKept = agent === kept
      try {
        const head = { headers: Object.fromEntries(headers), responseHeaders: 'raw' } as const
        return responseOf(await agent.request({ ...target, ...head }), method)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (message === 'bad upgrade') throw new Error('the server switched to another protocol', { cause: message })
        if (!isKept || !CLOSED.includes(code ?? '')) throw error
        agent = single
        throw new StaleConnection('the server closed the connection', { cause: error })
      }
    },
    close: () => Promise.all([kept.destroy(), single.destroy()]),
  }
}

const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']

/** Without timeouts: the requester has one deadline for everything. `pipelining: 0` keeps no connection open. */
function createAgent(pipelining: 0 | 1): Agent {
  const connect = buildConnector({ timeout: 0 })
  return new Agent({
    pipelining,
    headersTimeout: 0,
    bodyTimeout: 0,
    // Without a name given, TLS takes that of the URL; undici would take it from the Host header, which may be a strange one.
    connect: (options, callback) => connect({ ...options, servername: '' }, callback),
  })
}

function responseOf({ statusCode, statusText, headers, body }: Dispatcher.ResponseData, method: string): RawResponse {
  if (statusCode < 200 || statusCode > 599) {
    body.on('error', () => {}).destroy()
    throw new Error(`the status ${statusCode} is not one of HTTP`)
  }
  // With `responseHeaders: 'raw'` they are names and values in turn.
  const lines = headers as unknown as readonly string[]
  const all = new Headers()
  for (let i = 0; i + 1 < lines.length; i += 2) all.append(lines[i] ?? '', lines[i + 1] ?? '')
  const isBodiless = method === 'HEAD' || [204, 205, 304].includes(statusCode)
  if (isBodiless) body.resume()
  return new RawResponse(isBodiless ? null : (Readable.toWeb(body) as ReadableStream<Uint8Array>), {
    status: statusCode,
    // A text that no `Response` takes is left out.
    statusText: /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : '',
    headers: all,
  })
}
