/** One client's connection to a server: requests one after the other, each answered or lost. */

import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Longer than anything takes here that ends at all. */
const TIMEOUT_MS = 60_000

export interface Answer {
  readonly status: number
  readonly body: string
  /** In seconds. */
  readonly retryAfter?: string
  readonly etag?: string
}

export interface Question {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Nobody knows what became of the request. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** A status that is no success, or no answer although nobody killed the server. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer'
  /** Undefined where there was no answer. */
  readonly status: number | undefined

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options)
    this.status = status
  }
}

export class Connection implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /** Rejects with ConnectionLost when the connection dies before the answer is whole. */
  ask({ method, path, type, body: sent, headers: added }: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(new ConnectionLost(`${method} ${path}: ${error.message}`, { cause: error }))
      const asked = request(new URL(path, this.#url), {
        method,
        agent: this.#agent,
        headers: {
          Authorization: `Bearer ${this.#token}`,
          ...(type !== undefined && { 'Content-Type': type }),
          ...(sent !== undefined && { 'Content-Length': Buffer.byteLength(sent) }),
          ...added,
        },
      })
      asked.setTimeout(TIMEOUT_MS, () => asked.destroy(new Error('no answer')))
      asked.on('error', fail)
      asked.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        const { 'retry-after': retryAfter, etag } = headers
        const known = { status, ...(retryAfter && { retryAfter }), ...(etag && { etag }) }
        text(response).then((body) => resolve({ ...known, body }), fail)
      })
      asked.end(sent)
    })
  }

  get(path: string): Promise<Answer> {
    return this.ask({ method: 'GET', path })
  }

  /** The body of a 200; anything else is thrown. */
  async read(path: string): Promise<string> {
    const { status, body } = await this.get(path)
    if (status !== 200) throw new WrongAnswer(`GET ${path} answers ${status}: ${body}`, { status })
    return body
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
