/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Numbered, ThreadMessage } from '../../thread.ts'
import type { FilePlace } from '../file/store-file.ts'
import { explainError, isOfOneCall } from '../rows/explain-error.ts'
import { Transactions } from './transactions.ts'
import { type Outcome, packError, type WriterCall } from './writer-message.ts'

/** What one commit takes, at most: whoever came first waits for the last, and other processes wait for all of them. */
const CALLS_A_COMMIT = 64
const MS_A_COMMIT = 50

class WriterThread {
  readonly #port: MessagePort
  readonly #place: FilePlace
  /** Calls in the order in which they were sent. */
  readonly #calls: Numbered<WriterCall>[] = []
  #hasEnd = false
  #transactions: Transactions | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor(port: MessagePort, place: FilePlace) {
    this.#port = port
    this.#place = place
    port.on('message', (message: ThreadMessage<WriterCall>) => {
      this.#add(message)
      while (this.#calls.length > 0) port.postMessage(this.#commitNext())
      this.#tidying ??= setImmediate(() => this.#tidy())
      if (!this.#hasEnd) return
      clearImmediate(this.#tidying)
      this.#transactions?.close()
      port.close()
    })
  }

  #add(message: ThreadMessage<WriterCall>): void {
    if (typeof message === 'string') this.#hasEnd = true
    else this.#calls.push(...message)
  }

  /** One step at a time: calls come first. */
  #tidy(): void {
    this.#tidying = this.#transactions?.tidy() === true ? setImmediate(() => this.#tidy()) : undefined
  }

  #commitNext(): Numbered<Outcome>[] {
    const ids: number[] = []
    const taken: WriterCall[] = []
    const calls = this.#take(ids, taken)
    let outcomes: Outcome[]
    try {
      outcomes = this.#commit(calls)
    } catch (error) {
      // If it did not even begin, those who wait would meet the same.
      while (calls.next().done !== true);
      outcomes = taken.map((call) => (isOfOneCall(error) ? this.#commitAlone(call) : this.#failure(error)))
    }
    return outcomes.map((outcome, index) => [ids[index] ?? 0, outcome])
  }

  /** The calls of one commit: also those that arrive while it goes on. Each is taken at its turn. */
  *#take(ids: number[], taken: WriterCall[]): Generator<WriterCall> {
    const startedAt = performance.now()
    do {
      const received = this.#calls.length === 0 ? receiveMessageOnPort(this.#port) : undefined
      if (received !== undefined) this.#add(received.message)
      const next = this.#calls.shift()
      if (next === undefined) return
      const [id, call] = next
      ids.push(id)
      taken.push(call)
      yield call
    } while (taken.length < CALLS_A_COMMIT && performance.now() - startedAt <= MS_A_COMMIT)
  }

  #commit(calls: Iterable<WriterCall>): Outcome[] {
    this.#transactions ??= new Transactions(this.#place)
    return this.#transactions.commitTogether(calls)
  }

  #commitAlone(call: WriterCall): Outcome {
    try {
      return this.#commit([call])[0] ?? this.#failure('A call was not answered.')
    } catch (error) {
      return this.#failure(error)
    }
  }

  #failure(error: unknown): Outcome {
    return { failure: packError(explainError(error, this.#place.path)) }
  }
}

// Who starts this thread is typed (writer.ts).
if (parentPort !== null) new WriterThread(parentPort, workerData as FilePlace)
