/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { explainError } from './explain-error.ts'
import type { FilePlace } from './store-file.ts'
import { type CallMessage, END, type EndMessage, packError, type ReplyMessage } from './thread-message.ts'
import { Transactions } from './transactions.ts'

/** What one commit takes, at most: whoever came first waits for the last, and other processes wait for all of them. */
const CALLS_A_COMMIT = 64
const MS_A_COMMIT = 50

// Who starts this thread is typed (writer.ts).
if (parentPort !== null) serveCalls(parentPort, workerData as FilePlace)

function serveCalls(port: MessagePort, place: FilePlace): void {
  let transactions: Transactions | undefined
  let tidying: NodeJS.Immediate | undefined
  port.on('message', (first: CallMessage | EndMessage) => {
    const batch = new Batch(port, first)
    if (first !== END) for (const reply of answer(batch)) port.postMessage(reply)
    tidying ??= setImmediate(tidy)
    if (first !== END && !batch.hasEnd) return
    clearImmediate(tidying)
    transactions?.close()
    port.close()
  })

  /** One step at a time: calls come first. */
  function tidy(): void {
    tidying = transactions?.tidy() === true ? setImmediate(tidy) : undefined
  }

  function answer({ calls, ids }: Batch): ReplyMessage[] {
    try {
      transactions ??= new Transactions(place)
      return transactions.commitTogether(calls)
    } catch (error) {
      const failure = packError(explainError(error, place.path))
      // If it did not even begin, those who wait would meet the same.
      while (calls.next().done !== true);
      return ids.map((id) => ({ id, failure }))
    }
  }
}

/** The calls that share a commit: also those that arrive while it goes on. Each is taken off the port at its turn. */
class Batch {
  /** Of the calls that were taken. */
  readonly ids: number[] = []
  readonly calls: Generator<CallMessage>
  hasEnd = false

  constructor(port: MessagePort, first: CallMessage | EndMessage) {
    this.calls = this.#take(port, first)
  }

  *#take(port: MessagePort, first: CallMessage | EndMessage): Generator<CallMessage> {
    const startedAt = performance.now()
    for (let message: CallMessage | EndMessage | undefined = first; message !== undefined; ) {
      if (message === END) {
        this.hasEnd = true
        return
      }
      this.ids.push(message.id)
      yield message
      if (this.ids.length === CALLS_A_COMMIT || performance.now() - startedAt > MS_A_COMMIT) return
      message = receiveMessageOnPort(port)?.message
    }
  }
}
