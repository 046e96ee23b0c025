/** A network between a client and a server that takes its time with every answer. */

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'

export class SlowProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Requests wait up to `delayMs`. The links in the answers lead to the target, not here. */
  static async open(target: string, delayMs: number, random: Random): Promise<SlowProxy> {
    const server = createServer(async (incoming, response) => {
      await sleep(random(delayMs))
      pass(target, incoming, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new SlowProxy(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function pass(target: string, { url = '/', headers }: IncomingMessage, response: ServerResponse): void {
  const outgoing = request(new URL(url, target), { headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  // Who was killed waits for nothing.
  outgoing.on('error', () => response.destroy())
  response.on('error', () => outgoing.destroy())
  outgoing.end()
}
