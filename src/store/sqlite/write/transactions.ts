/** The one connection that writes, and how calls share its transactions. */

import type { DatabaseSync } from 'node:sqlite'
import { changeOf } from '../../changes.ts'
import { NO_COLLECTION } from '../../collection-rules.ts'
import type { Draft } from '../../draft.ts'
import { StoreError } from '../../store-error.ts'
import { BUSY_TIMEOUT_MS, checkSameFile, type FilePlace, openWriteConnection } from '../file/store-file.ts'
import { explainError, isLocked } from '../rows/explain-error.ts'
import { doOnce } from '../rows/request-log.ts'
import { Rows } from '../rows/rows.ts'
import { isAnythingLeftOver, SweepNeeded } from './lease.ts'
import { Steps } from './steps.ts'
import { beginDraft, readForChange, writeDraft } from './write-draft.ts'
import { type ChangeCall, type Outcome, packError, type StepCall, type WriterCall } from './writer-message.ts'

/**
 * SQLite itself waits longer and longer between its tries to get the lock, and so comes too late again and again where
 * others write without a pause. It is told to wait this long, and asked again.
 */
const RETRY_MS = 1

export class Transactions {
  readonly #place: FilePlace
  readonly #database: DatabaseSync
  readonly #rows: Rows
  readonly #steps: Steps
  /** What the changes of this transaction come to, by the name of the collection. */
  readonly #drafts = new Map<string, Draft>()

  constructor(place: FilePlace) {
    // Opening would make a new file where there is none.
    checkSameFile(place)
    this.#place = place
    this.#database = openWriteConnection(place.path, RETRY_MS)
    this.#rows = new Rows(this.#database)
    this.#steps = new Steps(this.#rows)
  }

  /** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
  commitTogether(calls: Iterable<WriterCall>): Outcome[] {
    // What goes into a file that has lost its name is lost with the last process that has it open.
    checkSameFile(this.#place)
    this.#begin()
    const restorePositions = this.#steps.savePositions()
    try {
      const outcomes: Outcome[] = []
      for (const call of calls) outcomes.push('name' in call ? this.#change(call) : this.#step(call))
      this.#writeDrafts()
      this.#rows.run('COMMIT')
      return outcomes
    } catch (error) {
      this.#drafts.clear()
      restorePositions()
      if (this.#rows.isInTransaction) this.#rows.run('ROLLBACK')
      throw error
    }
  }

  /** Removes some of what a process that died left behind. True while there is more; what fails is left to a later time. */
  tidy(): boolean {
    try {
      if (!isAnythingLeftOver(this.#rows)) return false
      const [outcome] = this.commitTogether([{ operation: 'sweep', parameters: [] }])
      return outcome !== undefined && 'value' in outcome && outcome.value === true
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

  #change({ name, operation, parameters, once }: ChangeCall): Outcome {
    const change = changeOf(operation, parameters)
    let value: unknown
    try {
      const draft = this.#drafts.get(name) ?? beginDraft(this.#rows, name)
      this.#drafts.set(name, draft)
      readForChange(this.#rows, draft, change)
      const apply = () => draft.apply(change)
      const collectionId = () => (change.isDrop ? NO_COLLECTION : draft.head?.id)
      value = once === undefined ? apply() : doOnce(this.#rows, once, collectionId, apply)
    } catch (error) {
      // What is refused has changed nothing. Anything else may have: then nobody in this transaction has succeeded.
      const isRefusal = error instanceof StoreError ? error.code !== 'corrupt' : error instanceof SweepNeeded
      if (!isRefusal) throw error
      return { failure: packError(error) }
    }
    if (change.isDrop) this.#writeDrafts()
    return { value }
  }

  #writeDrafts(): void {
    for (const draft of this.#drafts.values()) writeDraft(this.#rows, draft)
    this.#drafts.clear()
  }

  #step({ operation, parameters }: StepCall): Outcome {
    this.#writeDrafts()
    this.#rows.run('SAVEPOINT step')
    try {
      // The sender is typed (writer.ts): these are the parameters of this step.
      const step = this.#steps[operation] as (...parameters: readonly unknown[]) => unknown
      const value = step.apply(this.#steps, [...parameters])
      this.#rows.run('RELEASE step')
      return { value }
    } catch (error) {
      // A full disk, for one, makes SQLite roll back everything: then nobody in this transaction has succeeded.
      if (!this.#rows.isInTransaction) throw error
      this.#rows.run('ROLLBACK TO step')
      this.#rows.run('RELEASE step')
      return { failure: packError(explainError(error, this.#place.path)) }
    }
  }
}
