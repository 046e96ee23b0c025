/** The inbox of the writer thread: calls in the order in which they were sent, and which of them share a commit. */

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type CallMessage, END, type EndMessage } from './thread-message.ts'

/** What one commit takes, at most: whoever came first waits for the last, and other processes wait for all of them. */
const CALLS_A_COMMIT = 64
const MS_A_COMMIT = 50

export interface Batch {
  /** Of the calls that were taken. */
  readonly ids: readonly number[]
  readonly calls: Generator<CallMessage>
}

export class Inbox {
  /** Nothing follows. */
  hasEnd = false
  readonly #port: MessagePort
  readonly #calls: CallMessage[] = []

  constructor(port: MessagePort) {
    this.#port = port
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  add(message: readonly CallMessage[] | EndMessage): void {
    if (message === END) this.hasEnd = true
    else this.#calls.push(...message)
  }

  /** The calls of one commit: also those that arrive while it goes on. Each is taken at its turn. */
  takeBatch(): Batch {
    const ids: number[] = []
    return { ids, calls: this.#take(ids) }
  }

  *#take(ids: number[]): Generator<CallMessage> {
    const startedAt = performance.now()
    do {
      if (this.isEmpty) this.#receive()
      const call = this.#calls.shift()
      if (call === undefined) return
      ids.push(call.id)
      yield call
    } while (ids.length < CALLS_A_COMMIT && performance.now() - startedAt <= MS_A_COMMIT)
  }

  #receive(): void {
    const received = receiveMessageOnPort(this.#port)
    if (received !== undefined) this.add(received.message)
  }
}
