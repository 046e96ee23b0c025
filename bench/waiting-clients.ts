/** Clients that have the last page of a collection and wait for the next, with `Prefer: wait`. */

import { KeepAliveConnection } from './keep-alive-connection.ts'

const WAIT_SECONDS = 30

export class WaitingClients implements Disposable {
  readonly #url: URL
  readonly #connections: KeepAliveConnection[]
  #answeredAt: number[] = []
  #answered = Promise.withResolvers<void>()

  /** `url` is that of the page. */
  constructor(url: string, count: number) {
    this.#url = new URL(url)
    this.#connections = Array.from(
      { length: count },
      () => new KeepAliveConnection(url, (status) => this.#take(status)),
    )
  }

  /** All ask; resolves when all have been answered, with the times of the answers. Whoever had an answer before waits for the next. */
  async ask(): Promise<readonly number[]> {
    this.#answeredAt = []
    this.#answered = Promise.withResolvers<void>()
    for (const connection of this.#connections) connection.send(this.#request(connection.tag))
    await this.#answered.promise
    return this.#answeredAt
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.end()
  }

  #request(tag: string | undefined): string {
    const { host, pathname, search } = this.#url
    const condition = tag === undefined ? [] : [`If-None-Match: ${tag}`, `Prefer: wait=${WAIT_SECONDS}`]
    const lines = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept-Encoding: gzip', ...condition]
    return `${lines.join('\r\n')}\r\n\r\n`
  }

  #take(status: number): void {
    if (status !== 200) this.#answered.reject(new Error(`Somebody who waited was answered ${status}.`))
    this.#answeredAt.push(performance.now())
    if (this.#answeredAt.length === this.#connections.length) this.#answered.resolve()
  }
}
