/** A client that writes one item after the other over one connection that stays open, and tells how long each took. */

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

export interface Written {
  readonly status: number
  readonly durationMs: number
}

export class PostClient implements Disposable {
  readonly #url: string
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  post(collection: string, item: object): Promise<Written> {
    return this.#write('POST', collection, item)
  }

  /** `path` is the one of the item. */
  put(path: string, item: object): Promise<Written> {
    return this.#write('PUT', path, item)
  }

  async #write(method: string, path: string, item: object): Promise<Written> {
    const body = JSON.stringify(item)
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' }
    const startedAt = performance.now()
    const writing = request(`${this.#url}/${path}`, { method, agent: this.#agent, headers })
    writing.end(body)
    const [response] = (await once(writing, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode ?? 0, durationMs: performance.now() - startedAt }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
