/** A client that posts one item after the other over one connection that stays open, and tells how long each took. */

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

export class PostClient implements Disposable {
  readonly #url: string
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async post(collection: string, item: object): Promise<{ status: number; durationMs: number }> {
    const body = JSON.stringify(item)
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' }
    const startedAt = performance.now()
    const posting = request(`${this.#url}/${collection}`, { method: 'POST', agent: this.#agent, headers })
    posting.end(body)
    const [response] = (await once(posting, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode ?? 0, durationMs: performance.now() - startedAt }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
