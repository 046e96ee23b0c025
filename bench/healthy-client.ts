/**
 * A client that asks by the clock, whether or not it has been answered. So a server that stands still for a second is slow
 * for all requests of that second; a client that waits before it asks again would see one slow answer.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { KeepAliveConnection } from './keep-alive-connection.ts'
import type { WriteRequest } from './write-requests.ts'

const PATIENCE_MS = 10_000

export interface HealthyOptions {
  readonly url: string
  /** Without an end. */
  readonly requests: Iterator<WriteRequest, undefined>
  readonly everyMs: number
  /** Opens a connection for every request. Default: one for all. */
  readonly isNewcomer?: boolean
  /** How long it waits for the last answers. What has no good answer counts as if it had taken as long. Default 10,000. */
  readonly patienceMs?: number
}

export class HealthyClient implements Disposable {
  readonly #options: HealthyOptions
  readonly #patienceMs: number
  #connection: KeepAliveConnection | undefined
  /** When the requests were due that are not answered: the first is on its way. */
  #waiting: number[] = []
  #durationsMs: number[] = []

  constructor(options: HealthyOptions) {
    this.#options = options
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS
  }

  /** Asks for so long, and answers how long each request took from when it was due. */
  async ask(durationMs: number, signal: AbortSignal): Promise<number[]> {
    const { everyMs } = this.#options
    this.#durationsMs = []
    for (let left = durationMs / everyMs; left > 0; left--) {
      this.#waiting.push(performance.now())
      if (this.#waiting.length === 1) this.#send()
      await sleep(everyMs, undefined, { signal })
    }
    for (let left = this.#patienceMs / everyMs; left > 0 && this.#waiting.length > 0; left--)
      await sleep(everyMs, undefined, { signal })
    if (this.#waiting.length > 0) this.#giveUp()
    return this.#durationsMs
  }

  [Symbol.dispose](): void {
    this.#connection?.end()
    this.#connection = undefined
  }

  #send(): void {
    const { url, requests } = this.#options
    this.#connection ??= new KeepAliveConnection(
      url,
      (status) => this.#onAnswer(status >= 200 && status <= 299),
      () => {
        this.#connection = undefined
        if (this.#waiting.length > 0) this.#onAnswer(false)
      },
    )
    const request = requests.next().value
    if (request === undefined) throw new Error('A healthy client has no more requests to send.')
    this.#connection.send(request.head, request.body)
  }

  #onAnswer(isGood: boolean): void {
    const dueAt = this.#waiting.shift() ?? 0
    this.#durationsMs.push(isGood ? performance.now() - dueAt : this.#patienceMs)
    if (this.#options.isNewcomer) this[Symbol.dispose]()
    if (this.#waiting.length > 0) this.#send()
  }

  #giveUp(): void {
    this[Symbol.dispose]()
    this.#durationsMs.push(...this.#waiting.map(() => this.#patienceMs))
    this.#waiting = []
  }
}
