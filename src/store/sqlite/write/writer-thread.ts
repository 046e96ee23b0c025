/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { changeOf } from '../../changes.ts'
import { NO_COLLECTION } from '../../collection-rules.ts'
import { DeflatePool } from '../../deflate-pool.ts'
import type { Draft } from '../../draft.ts'
import { StoreError } from '../../store-error.ts'
import type { Numbered, ThreadMessage } from '../../thread.ts'
import { BUSY_TIMEOUT_MS, checkSameFile, type FilePlace, openWriteConnection } from '../file/store-file.ts'
import { explainError, isLocked, isOfOneCall } from '../rows/explain-error.ts'
import { doOnce } from '../rows/request-log.ts'
import { Rows } from '../rows/rows.ts'
import { isAnythingLeftOver, SweepNeeded } from './lease.ts'
import { Steps } from './steps.ts'
import { beginDraft, readForChange, writeDraft } from './write-draft.ts'
import { type NamedChange, type Outcome, packError, type StepCall, type WriterCall } from './writer.ts'

/** What one commit takes, at most: whoever came first waits for the last, and other processes wait for all of them. */
const CALLS_A_COMMIT = 64
const MS_A_COMMIT = 50

/** Pages of the log, from which on it is worth moving them to the file. */
const PAGES_A_CHECKPOINT = 1_000
/** From here on every commit tries: the log begins anew only when all of it was moved, and no reader looks into it. */
const MAX_LOG_PAGES = 4_000

/**
 * SQLite itself waits longer and longer between its tries to get the lock, and so comes too late again and again where
 * others write without a pause. It is told to wait this long, and asked again.
 */
const RETRY_MS = 1

class WriterThread {
  readonly #port: MessagePort
  readonly #place: FilePlace
  /** Calls in the order in which they were sent. */
  readonly #calls: Numbered<WriterCall>[] = []
  #hasEnd = false
  #isWorking = false
  #transactions: Transactions | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor(port: MessagePort, place: FilePlace) {
    this.#port = port
    this.#place = place
    port.on('message', (message: ThreadMessage<WriterCall>) => {
      this.#add(message)
      if (!this.#isWorking) void this.#work()
    })
  }

  /** One commit after the other. What comes meanwhile waits for the next. */
  async #work(): Promise<void> {
    this.#isWorking = true
    clearImmediate(this.#tidying)
    while (this.#calls.length > 0) {
      this.#port.postMessage(await this.#commitNext())
      this.#transactions?.checkpoint()
    }
    if (this.#hasEnd) {
      await this.#transactions?.close()
      this.#port.close()
      return
    }
    this.#tidying = setImmediate(() => void this.#tidy())
    this.#isWorking = false
  }

  #add(message: ThreadMessage<WriterCall>): void {
    if (typeof message === 'string') this.#hasEnd = true
    else this.#calls.push(...message)
  }

  /** Removes some of what a process that died left behind. One step at a time: calls come first. */
  async #tidy(): Promise<void> {
    this.#isWorking = true
    const isMore = (await this.#transactions?.tidy()) === true
    this.#transactions?.checkpoint()
    if (this.#calls.length > 0 || this.#hasEnd) return this.#work()
    if (isMore) this.#tidying = setImmediate(() => void this.#tidy())
    this.#isWorking = false
  }

  async #commitNext(): Promise<Numbered<Outcome>[]> {
    const taken: Numbered<WriterCall>[] = []
    const calls = this.#take(taken)
    try {
      return await this.#commit(calls)
    } catch (error) {
      // If it did not even begin, those who wait would meet the same.
      while (calls.next().done !== true);
      const outcomes: Numbered<Outcome>[] = []
      for (const call of taken)
        outcomes.push(isOfOneCall(error) ? await this.#commitAlone(call) : this.#failure(call, error))
      return outcomes
    }
  }

  /** The calls of one commit: also those that arrive while it goes on. Each is taken at its turn. */
  *#take(taken: Numbered<WriterCall>[]): Generator<Numbered<WriterCall>> {
    const startedAt = performance.now()
    do {
      const received = this.#calls.length === 0 ? receiveMessageOnPort(this.#port) : undefined
      if (received !== undefined) this.#add(received.message)
      const call = this.#calls.shift()
      if (call === undefined) return
      taken.push(call)
      yield call
    } while (taken.length < CALLS_A_COMMIT && performance.now() - startedAt <= MS_A_COMMIT)
  }

  async #commit(calls: Iterable<Numbered<WriterCall>>): Promise<Numbered<Outcome>[]> {
    this.#transactions ??= new Transactions(this.#place)
    return this.#transactions.commitTogether(calls)
  }

  async #commitAlone(call: Numbered<WriterCall>): Promise<Numbered<Outcome>> {
    try {
      return (await this.#commit([call]))[0] ?? this.#failure(call, 'A call was not answered.')
    } catch (error) {
      return this.#failure(call, error)
    }
  }

  #failure([id]: Numbered<WriterCall>, error: unknown): Numbered<Outcome> {
    return [id, { failure: packError(explainError(error, this.#place.path)) }]
  }
}

/** The one connection that writes, and how calls share its transactions. */
class Transactions {
  readonly #place: FilePlace
  readonly #database: DatabaseSync
  readonly #rows: Rows
  readonly #steps: Steps
  readonly #pool = new DeflatePool()
  /** What the changes of this transaction come to, by the name of the collection. */
  readonly #drafts = new Map<string, Draft>()

  constructor(place: FilePlace) {
    // Opening would make a new file where there is none.
    checkSameFile(place)
    this.#place = place
    this.#database = openWriteConnection(place.path, RETRY_MS)
    this.#rows = new Rows(this.#database)
    this.#rows.run('PRAGMA wal_autocheckpoint = 0')
    this.#steps = new Steps(this.#rows, this.#pool)
  }

  /** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
  async commitTogether(calls: Iterable<Numbered<WriterCall>>): Promise<Numbered<Outcome>[]> {
    // What goes into a file that has lost its name is lost with the last process that has it open.
    checkSameFile(this.#place)
    this.#begin()
    const restorePositions = this.#steps.savePositions()
    try {
      const outcomes: Numbered<Outcome>[] = []
      for (const [id, call] of calls)
        outcomes.push([id, 'name' in call ? await this.#change(call) : await this.#step(call)])
      await this.#writeDrafts()
      this.#rows.run('COMMIT')
      return outcomes
    } catch (error) {
      this.#drafts.clear()
      restorePositions()
      if (this.#rows.isInTransaction) this.#rows.run('ROLLBACK')
      throw error
    }
  }

  /** Moves what was committed from the log to the file. SQLite itself would do so in a commit, while those who wrote wait for it. */
  checkpoint(): void {
    try {
      const [, logged = 0, moved = 0] = (this.#rows.get('PRAGMA wal_checkpoint(NOOP)') ?? []) as number[]
      const isDue = logged - moved >= PAGES_A_CHECKPOINT || (logged >= MAX_LOG_PAGES && moved < logged)
      if (isDue) this.#rows.get('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // A full disk, for one. Everything stays in the log, and who writes next is told if that cannot grow either.
    }
  }

  /** True while there is more to remove; what fails is left to a later time. */
  async tidy(): Promise<boolean> {
    try {
      if (!isAnythingLeftOver(this.#rows)) return false
      const [[, outcome] = []] = await this.commitTogether([[0, { operation: 'sweep', parameters: [] }]])
      return outcome !== undefined && 'value' in outcome && outcome.value === true
    } catch {
      return false
    }
  }

  async close(): Promise<void> {
    this.#database.close()
    await this.#pool.close()
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

  async #change({ name, once, change: call }: NamedChange): Promise<Outcome> {
    const change = changeOf(call)
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
    if (change.isDrop) await this.#writeDrafts()
    return { value, isChange: true }
  }

  async #writeDrafts(): Promise<void> {
    for (const draft of this.#drafts.values()) await writeDraft(this.#rows, draft, this.#pool)
    this.#drafts.clear()
  }

  async #step({ operation, parameters }: StepCall): Promise<Outcome> {
    await this.#writeDrafts()
    this.#rows.run('SAVEPOINT step')
    try {
      // The sender is typed (writer.ts): these are the parameters of this step.
      const step = this.#steps[operation] as (...parameters: readonly unknown[]) => unknown
      const value = await step.apply(this.#steps, [...parameters])
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

// Who starts this thread is typed (writer.ts).
if (parentPort !== null) new WriterThread(parentPort, workerData as FilePlace)
