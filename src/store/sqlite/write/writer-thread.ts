/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { FilePlace } from '../file/store-file.ts'
import { explainError, isOfOneCall } from '../rows/explain-error.ts'
import { type CallMessage, END, type EndMessage, packError, type ReplyMessage } from './thread-message.ts'
import { Transactions } from './transactions.ts'

/** What one commit takes, at most: whoever came first waits for the last, and other processes wait for all of them. */
const CALLS_A_COMMIT = 64
const MS_A_COMMIT = 50

class WriterThread {
  readonly #port: MessagePort
  readonly #place: FilePlace
  /** Calls in the order in which they were sent. */
  readonly #calls: CallMessage[] = []
  #hasEnd = false
  #transactions: Transactions | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor(port: MessagePort, place: FilePlace) {
    this.#port = port
    this.#place = place
  }

  listen(): void {
    this.#port.on('message', (message: readonly CallMessage[] | EndMessage) => {
      this.#add(message)
      while (this.#calls.length > 0) this.#port.postMessage(this.#commitNext())
      this.#tidying ??= setImmediate(() => this.#tidy())
      if (!this.#hasEnd) return
      clearImmediate(this.#tidying)
      this.#transactions?.close()
      this.#port.close()
    })
  }

  #add(message: readonly CallMessage[] | EndMessage): void {
    if (message === END) this.#hasEnd = true
    else this.#calls.push(...message)
  }

  /** One step at a time: calls come first. */
  #tidy(): void {
    this.#tidying = this.#transactions?.tidy() === true ? setImmediate(() => this.#tidy()) : undefined
  }

  #commitNext(): ReplyMessage[] {
    const taken: CallMessage[] = []
    const calls = this.#take(taken)
    try {
      return this.#commit(calls)
    } catch (error) {
      // If it did not even begin, those who wait would meet the same.
      while (calls.next().done !== true);
      return isOfOneCall(error) ? taken.map((call) => this.#commitAlone(call)) : this.#fail(taken, error)
    }
  }

  /** The calls of one commit: also those that arrive while it goes on. Each is taken at its turn. */
  *#take(taken: CallMessage[]): Generator<CallMessage> {
    const startedAt = performance.now()
    do {
      if (this.#calls.length === 0) this.#receive()
      const call = this.#calls.shift()
      if (call === undefined) return
      taken.push(call)
      yield call
    } while (taken.length < CALLS_A_COMMIT && performance.now() - startedAt <= MS_A_COMMIT)
  }

  #receive(): void {
    const received = receiveMessageOnPort(this.#port)
    if (received !== undefined) this.#add(received.message)
  }

  #commit(calls: Iterable<CallMessage>): ReplyMessage[] {
    this.#transactions ??= new Transactions(this.#place)
    return this.#transactions.commitTogether(calls)
  }

  #commitAlone(call: CallMessage): ReplyMessage {
    try {
      const [reply] = this.#commit([call])
      if (reply !== undefined) return reply
      throw new Error('A call was not answered.')
    } catch (error) {
      return { id: call.id, failure: packError(this.#explain(error)) }
    }
  }

  #fail(calls: readonly CallMessage[], error: unknown): ReplyMessage[] {
    const failure = packError(this.#explain(error))
    return calls.map(({ id }) => ({ id, failure }))
  }

  #explain(error: unknown): unknown {
    return explainError(error, this.#place.path)
  }
}

// Who starts this thread is typed (writer.ts).
if (parentPort !== null) new WriterThread(parentPort, workerData as FilePlace).listen()
