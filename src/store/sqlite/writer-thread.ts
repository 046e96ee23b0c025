/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { openWriteConnection } from './connection.ts'
import { explainError } from './explain-error.ts'
import { Operations } from './operations.ts'
import { doOnce } from './request-log.ts'
import { Rows } from './rows.ts'
import { type CallMessage, END, type EndMessage, packError, type ReplyMessage } from './thread-message.ts'

/** Calls in one commit, at most: other processes want to write too. */
const CALLS_A_COMMIT = 64

if (parentPort !== null) serveCalls(parentPort, String(workerData))

function serveCalls(port: MessagePort, path: string): void {
  let transactions: Transactions | undefined
  port.on('message', (first: CallMessage | EndMessage) => {
    // What arrived while the last commit ran shares the next one.
    const messages = [first, ...waitingMessages(port)]
    const calls = messages.filter((message) => message !== END)
    if (calls.length > 0) for (const reply of answer(calls)) port.postMessage(reply)
    if (calls.length < messages.length) {
      transactions?.close()
      port.close()
    }
  })

  function answer(calls: readonly CallMessage[]): ReplyMessage[] {
    try {
      transactions ??= new Transactions(path)
      return transactions.commitTogether(calls)
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

class Transactions {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #rows: Rows
  readonly #operations: Operations

  constructor(path: string) {
    this.#path = path
    this.#database = openWriteConnection(path)
    this.#rows = new Rows(this.#database)
    this.#operations = new Operations(this.#rows)
  }

  /** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
  commitTogether(calls: readonly CallMessage[]): ReplyMessage[] {
    this.#rows.run('BEGIN IMMEDIATE')
    try {
      const replies = calls.map((call) => this.#runAlone(call))
      this.#rows.run('COMMIT')
      return replies
    } catch (error) {
      if (this.#rows.isInTransaction) this.#rows.run('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }

  #runAlone(call: CallMessage): ReplyMessage {
    this.#rows.run('SAVEPOINT call')
    try {
      // The sender is typed (writer.ts): these are the parameters of this operation.
      const operation = this.#operations[call.operation] as (...parameters: readonly unknown[]) => unknown
      const write = () => operation.apply(this.#operations, [...call.parameters])
      const value = call.once === undefined ? write() : doOnce(this.#rows, call.once, write)
      this.#rows.run('RELEASE call')
      return { id: call.id, value }
    } catch (error) {
      // A full disk, for one, makes SQLite roll back everything: then nobody in this transaction has succeeded.
      if (!this.#rows.isInTransaction) throw error
      this.#rows.run('ROLLBACK TO call')
      this.#rows.run('RELEASE call')
      return { id: call.id, failure: packError(explainError(error, this.#path)) }
    }
  }
}
