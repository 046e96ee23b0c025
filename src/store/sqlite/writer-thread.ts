/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { explainError } from './explain-error.ts'
import { type Batch, Inbox } from './inbox.ts'
import type { FilePlace } from './store-file.ts'
import { type CallMessage, type EndMessage, packError, type ReplyMessage } from './thread-message.ts'
import { Transactions } from './transactions.ts'

// Who starts this thread is typed (writer.ts).
if (parentPort !== null) serveCalls(parentPort, workerData as FilePlace)

function serveCalls(port: MessagePort, place: FilePlace): void {
  let transactions: Transactions | undefined
  let tidying: NodeJS.Immediate | undefined
  const inbox = new Inbox(port)
  port.on('message', (message: readonly CallMessage[] | EndMessage) => {
    inbox.add(message)
    while (!inbox.isEmpty) port.postMessage(answer(inbox.takeBatch()))
    tidying ??= setImmediate(tidy)
    if (!inbox.hasEnd) return
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
