/** A client that asks for pages over one connection that stays open, and tells how long each took. */

import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

export type Encoding = 'gzip' | 'identity'

export interface Fetched {
  /** From the request to the last byte of the body. */
  readonly durationMs: number
  readonly bodyBytes: number
}

export class PageClient implements Disposable {
  readonly url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string) {
    this.url = url
  }

  /** Reads the whole body and throws it away. */
  async time(path: string, encoding: Encoding): Promise<Fetched> {
    const startedAt = performance.now()
    const response = await this.#get(path, encoding)
    let bodyBytes = 0
    response.on('data', (chunk: Buffer) => {
      bodyBytes += chunk.length
    })
    await once(response, 'end')
    return { durationMs: performance.now() - startedAt, bodyBytes }
  }

  async json(path: string, encoding: Encoding): Promise<unknown> {
    const body = await buffer(await this.#get(path, encoding))
    return JSON.parse((encoding === 'gzip' ? gunzipSync(body) : body).toString())
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  async #get(path: string, encoding: Encoding): Promise<IncomingMessage> {
    const request = get(`${this.url}${path}`, { agent: this.#agent, headers: { 'Accept-Encoding': encoding } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const answered = response.headers['content-encoding'] ?? 'identity'
    if (response.statusCode !== 200 || answered !== encoding)
      throw new Error(
        `${this.url}${path} answered ${response.statusCode} as ${answered}; the bench needs 200 as ${encoding}.`,
      )
    return response
  }
}
