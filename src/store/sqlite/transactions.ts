/** The one connection that writes, and how calls share its transactions. */

import type { DatabaseSync } from 'node:sqlite'
import { NO_COLLECTION } from '../collection-rules.ts'
import { BUSY_TIMEOUT_MS, openWriteConnection } from './connection.ts'
import { explainError, isLocked } from './explain-error.ts'
import { readHead } from './head.ts'
import { OpenReams } from './open-reams.ts'
import { Operations } from './operations.ts'
import { doOnce } from './request-log.ts'
import { Rows } from './rows.ts'
import { checkSameFile, type FilePlace } from './store-file.ts'
import { isAnythingLeftOver } from './sweep.ts'
import { type CallMessage, packError, type ReplyMessage } from './thread-message.ts'

/**
 * SQLite itself waits longer and longer between its tries to get the lock, and so comes too late again and again where
 * others write without a pause. It is told to wait this long, and asked again.
 */
const TRY_AGAIN_MS = 1

export class Transactions {
  readonly #place: FilePlace
  readonly #database: DatabaseSync
  readonly #rows: Rows
  readonly #reams: OpenReams
  readonly #operations: Operations

  constructor(place: FilePlace) {
    // Opening would make a new file where there is none.
    checkSameFile(place)
    this.#place = place
    this.#database = openWriteConnection(place.path, TRY_AGAIN_MS)
    this.#rows = new Rows(this.#database)
    this.#reams = new OpenReams(this.#rows)
    this.#operations = new Operations(this.#rows, this.#reams)
  }

  /** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
  commitTogether(calls: Iterable<CallMessage>): ReplyMessage[] {
    // What goes into a file that has lost its name is lost with the last process that has it open.
    checkSameFile(this.#place)
    this.#begin()
    try {
      const replies: ReplyMessage[] = []
      for (const call of calls) replies.push(this.#runAlone(call))
      this.#reams.write()
      this.#rows.run('COMMIT')
      return replies
    } catch (error) {
      this.#reams.state = new Map()
      if (this.#rows.isInTransaction) this.#rows.run('ROLLBACK')
      throw error
    }
  }

  /** Removes some of what a process that died left behind. True while there is more; what fails is left to a later time. */
  tidy(): boolean {
    try {
      if (!isAnythingLeftOver(this.#rows)) return false
      const [reply] = this.commitTogether([{ id: 0, operation: 'sweep', parameters: [], once: undefined }])
      return reply !== undefined && 'value' in reply && reply.value === true
    } catch {
      return false
    }
  }

  close(): void {
    this.#database.close()
  }

  #begin(): void {
    for (const startedAt = performance.now(); ; ) {
      try {
        this.#rows.run('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isLocked(error) || performance.now() - startedAt > BUSY_TIMEOUT_MS) throw error
      }
    }
  }

  /** The collection for which the call is remembered. */
  #idFor({ operation, parameters: [name] }: CallMessage): number | undefined {
    return operation === 'drop' ? NO_COLLECTION : readHead(this.#rows, String(name))?.id
  }

  #runAlone(call: CallMessage): ReplyMessage {
    const reamsBefore = this.#reams.state
    this.#rows.run('SAVEPOINT call')
    try {
      // The sender is typed (writer.ts): these are the parameters of this operation.
      const operation = this.#operations[call.operation] as (...parameters: readonly unknown[]) => unknown
      const write = () => operation.apply(this.#operations, [...call.parameters])
      const value = call.once === undefined ? write() : doOnce(this.#rows, call.once, () => this.#idFor(call), write)
      this.#rows.run('RELEASE call')
      return { id: call.id, value }
    } catch (error) {
      // A full disk, for one, makes SQLite roll back everything: then nobody in this transaction has succeeded.
      if (!this.#rows.isInTransaction) throw error
      this.#rows.run('ROLLBACK TO call')
      this.#rows.run('RELEASE call')
      this.#reams.state = reamsBefore
      return { id: call.id, failure: packError(explainError(error, this.#place.path)) }
    }
  }
}
