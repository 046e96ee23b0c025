/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { openWriteConnection } from './connection.ts'
import { explainError } from './explain-error.ts'
import { Operations } from './operations.ts'
import { Rows } from './rows.ts'
import { type CallMessage, END, type EndMessage, packError, type ReplyMessage } from './thread-message.ts'

/** Calls in one commit, at most: other processes want to write too. */
const CALLS_A_COMMIT = 64

if (parentPort !== null) serveCalls(parentPort, String(workerData))

function serveCalls(port: MessagePort, path: string): void {
  let database: DatabaseSync | undefined
  let operations: Operations | undefined
  port.on('message', (first: CallMessage | EndMessage) => {
    // What arrived while the last commit ran shares the next one.
    const messages = [first, ...waitingMessages(port)]
    const calls = messages.filter((message) => message !== END)
    if (calls.length > 0) for (const reply of answer(calls)) port.postMessage(reply)
    if (calls.length < messages.length) {
      database?.close()
      port.close()
    }
  })

  function answer(calls: readonly CallMessage[]): ReplyMessage[] {
    try {
      database ??= openWriteConnection(path)
      operations ??= new Operations(new Rows(database))
      return commitTogether(database, operations, calls)
    } catch (error) {
      const failure = packError(explainError(error, path))
      return calls.map(({ id }) => ({ id, failure }))
    }
  }
}

function* waitingMessages(port: MessagePort): Generator<CallMessage | EndMessage> {
  for (let taken = 1; taken < CALLS_A_COMMIT; taken++) {
    const waiting = receiveMessageOnPort(port)
    if (waiting === undefined) return
    yield waiting.message
  }
}

/** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
function commitTogether(database: DatabaseSync, operations: Operations, calls: readonly CallMessage[]): ReplyMessage[] {
  database.exec('BEGIN IMMEDIATE')
  try {
    const replies = calls.map((call) => runAlone(database, operations, call))
    database.exec('COMMIT')
    return replies
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function runAlone(database: DatabaseSync, operations: Operations, call: CallMessage): ReplyMessage {
  const path = String(workerData)
  database.exec('SAVEPOINT call')
  try {
    // The sender is typed (writer.ts): these are the parameters of this operation.
    const operation = operations[call.operation] as (...parameters: readonly unknown[]) => unknown
    const value = operation.apply(operations, [...call.parameters])
    database.exec('RELEASE call')
    return { id: call.id, value }
  } catch (error) {
    // A full disk, for one, makes SQLite roll back everything: then nobody in this transaction has succeeded.
    if (!database.isTransaction) throw error
    database.exec('ROLLBACK TO call; RELEASE call')
    return { id: call.id, failure: packError(explainError(error, path)) }
  }
}
