/** The writer thread: takes calls from its port and answers each after the commit that made it durable. */

import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type ChangeCall, changeOf, memoryOf } from '../../changes.ts'
import { DeflatePool } from '../../deflate-pool.ts'
import { FULL_STEP, SweepNeeded, type SweepSize } from '../../leases.ts'
import { runAsync, runSync } from '../../rows.ts'
import { type StepName, stepOf } from '../../steps.ts'
import { StoreError } from '../../store-error.ts'
import { type Numbered, serveOwners, type ThreadMessage } from '../../thread.ts'
import { applyCall, beginDraft, type OpenDraft, readForCalls, writeDraft } from '../../write-draft.ts'
import { BUSY_TIMEOUT_MS, checkSameFile, type FilePlace, openWriteConnection } from '../file/store-file.ts'
import { explainError, isFull, isLocked, isOfOneCall } from '../rows/explain-error.ts'
import { SqliteRows } from '../rows/sqlite-rows.ts'
import { Statements } from '../rows/statements.ts'
import { WriteSpace } from './write-space.ts'
import { type NamedChange, type Outcome, packError, type StepCall, type WriterCall, type WriterData } from './writer.ts'

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

/** Calls that free space, or end something and take next to none: they work on a full disk. */
const FREEING: ReadonlySet<ChangeCall[0] | StepName> = new Set([
  ...(['forget', 'drop', 'setRetention', 'setPrivate', 'detach'] as const),
  ...(['forgetOld', 'sweep', 'abandonLoad', 'renewLoad', 'revokeToken', 'noteFollowing'] as const),
])

/** What a step removes where the disk has little room for the log. Each row may be on a page of its own, and a change on several. */
const SMALL_STEP: SweepSize = { states: 50, changes: 20, reams: 50, rows: 1_000 }

/** How often a call that frees space is tried on a full disk: another process may take the space that was just freed. */
const MAX_TRIES = 5

class WriterThread {
  readonly #port: MessagePort
  readonly #data: WriterData
  readonly #end: () => void
  /** Calls in the order in which they were sent. */
  readonly #calls: Numbered<WriterCall>[] = []
  #hasEnd = false
  #isWorking = false
  #transactions: Transactions | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor(port: MessagePort, data: WriterData, end: () => void) {
    this.#port = port
    this.#data = data
    this.#end = end
  }

  take(message: ThreadMessage<WriterCall>): void {
    this.#add(message)
    if (!this.#isWorking) void this.#work()
  }

  /** One commit after the other. What comes meanwhile waits for the next. */
  async #work(): Promise<void> {
    this.#isWorking = true
    clearImmediate(this.#tidying)
    while (this.#calls.length > 0) {
      const taken: Numbered<WriterCall>[] = []
      this.#port.postMessage(await this.#commitNext(taken))
      for (const [, call] of taken) freeCall(call)
      this.#transactions?.checkpoint()
    }
    if (this.#hasEnd) {
      await this.#transactions?.close()
      this.#end()
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

  /** Adds the calls of the commit to `taken`. */
  async #commitNext(taken: Numbered<WriterCall>[]): Promise<Numbered<Outcome>[]> {
    const calls = this.#take(taken)
    try {
      return await this.#commit(calls)
    } catch (error) {
      // If it did not even begin, those who wait would meet the same.
      while (calls.next().done !== true);
      const outcomes: Numbered<Outcome>[] = []
      for (const call of taken)
        outcomes.push(
          isOfOneCall(error) || (isFull(error) && isFreeing(call[1]))
            ? await this.#commitAlone(call)
            : this.#failure(call, error),
        )
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

  #commit(calls: Iterable<Numbered<WriterCall>>): Promise<Numbered<Outcome>[]> {
    return this.#opened().commitTogether(calls)
  }

  #opened(): Transactions {
    this.#transactions ??= new Transactions(this.#data)
    return this.#transactions
  }

  async #commitAlone(call: Numbered<WriterCall>): Promise<Numbered<Outcome>> {
    try {
      return (await this.#opened().commitAlone(call)) ?? this.#failure(call, 'A call was not answered.')
    } catch (error) {
      return this.#failure(call, error)
    }
  }

  #failure([id]: Numbered<WriterCall>, error: unknown): Numbered<Outcome> {
    return [id, { failure: packError(explainError(error, this.#data.place.path)) }]
  }
}

/** The one connection that writes, and how calls share its transactions. */
class Transactions {
  readonly #place: FilePlace
  readonly #database: DatabaseSync
  readonly #rows: SqliteRows
  readonly #sql: Statements
  readonly #pool: DeflatePool
  readonly #space: WriteSpace
  /** What the changes of this transaction come to, by the name of the collection. */
  readonly #drafts = new Map<string, OpenDraft>()

  constructor({ place, plan }: WriterData) {
    // Opening would make a new file where there is none.
    checkSameFile(place)
    this.#place = place
    this.#database = openWriteConnection(place.path, RETRY_MS, plan)
    this.#sql = new Statements(this.#database)
    this.#rows = new SqliteRows(this.#sql)
    this.#pool = new DeflatePool(plan)
    this.#sql.run('PRAGMA wal_autocheckpoint = 0')
    this.#space = new WriteSpace(this.#sql, place.path, plan)
  }

  /** One transaction for all calls. Each succeeds or fails alone; if the transaction itself fails, all of them do. */
  async commitTogether(calls: Iterable<Numbered<WriterCall>>): Promise<Numbered<Outcome>[]> {
    // What goes into a file that has lost its name is lost with the last process that has it open.
    checkSameFile(this.#place)
    this.#space.measure()
    this.#begin()
    try {
      const outcomes: Numbered<Outcome>[] = []
      let isOrdinary = false
      for (const [id, call] of calls) {
        if (!isFreeing(call)) isOrdinary = true
        outcomes.push([id, await this.#do(call)])
      }
      await this.#writeDrafts()
      if (isOrdinary) this.#space.checkGrowth()
      this.#sql.run('COMMIT')
      return outcomes
    } catch (error) {
      if (isFull(error)) this.#space.noteFull()
      this.#drafts.clear()
      if (this.#sql.isInTransaction) this.#sql.run('ROLLBACK')
      throw error
    }
  }

  /** If it frees space, and the disk is full, it gets the reserve. */
  async commitAlone(call: Numbered<WriterCall>): Promise<Numbered<Outcome> | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.commitTogether([call]))[0]
      } catch (error) {
        if (!isFull(error) || !isFreeing(call[1]) || tries === MAX_TRIES) throw error
        // The second time the log was cut off and the steps are smaller, which may be enough.
        if (tries > 1 && !(await this.#space.release())) throw error
      }
    }
  }

  /** Moves what was committed from the log to the file. SQLite itself would do so in a commit, while those who wrote wait for it. */
  checkpoint(): void {
    if (this.#space.isTight) {
      this.#space.truncateLog()
      return
    }
    try {
      const [, logged = 0, moved = 0] = (this.#sql.get('PRAGMA wal_checkpoint(NOOP)') ?? []) as number[]
      const isDue =
        logged - moved >= Math.min(PAGES_A_CHECKPOINT, this.#space.mostLogPages) ||
        (logged >= MAX_LOG_PAGES && moved < logged)
      if (isDue) this.#sql.get('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // A full disk, for one. Everything stays in the log, and who writes next is told if that cannot grow either.
    }
  }

  /** True while there is more to remove; what fails is left to a later time. */
  async tidy(): Promise<boolean> {
    try {
      const isTidy = this.#rows.findLeftovers().length === 0 && !this.#rows.findLeases().some(({ isDead }) => isDead)
      if (isTidy) return false
      const [, outcome] = (await this.commitAlone([0, { operation: 'sweep', parameters: [] }])) ?? []
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
        this.#sql.run('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isLocked(error) || performance.now() - startedAt > BUSY_TIMEOUT_MS) throw error
      }
    }
  }

  async #do(call: WriterCall): Promise<Outcome> {
    if (this.#space.isLow && !isFreeing(call)) return { failure: packError(this.#space.refusal()) }
    return 'name' in call ? this.#change(call) : this.#step(call)
  }

  async #change({ name, once, change: call }: NamedChange): Promise<Outcome> {
    const change = changeOf(call)
    let value: unknown
    try {
      const draft = this.#drafts.get(name) ?? runSync(beginDraft(name), this.#rows)
      this.#drafts.set(name, draft)
      const sent = { change, once }
      runSync(readForCalls(draft, [sent]), this.#rows)
      value = applyCall(draft, sent)
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
    for (const draft of this.#drafts.values()) await runAsync(writeDraft(draft, this.#pool), this.#rows)
    this.#drafts.clear()
  }

  async #step({ operation, parameters }: StepCall): Promise<Outcome> {
    await this.#writeDrafts()
    this.#sql.run('SAVEPOINT step')
    try {
      const context = { pool: this.#pool, size: this.#space.isTight ? SMALL_STEP : FULL_STEP }
      const value = await runAsync(stepOf(operation, context, parameters), this.#rows)
      this.#sql.run('RELEASE step')
      return { value }
    } catch (error) {
      // A full disk, for one, makes SQLite roll back everything: then nobody in this transaction has succeeded.
      if (!this.#sql.isInTransaction) throw error
      this.#sql.run('ROLLBACK TO step')
      this.#sql.run('RELEASE step')
      return { failure: packError(explainError(error, this.#place.path)) }
    }
  }
}

function isFreeing(call: WriterCall): boolean {
  return FREEING.has('name' in call ? call.change[0] : call.operation)
}

/** Frees the memory of a large write at once: the garbage collector would let several of them pile up. */
function freeCall(call: WriterCall): void {
  if ('change' in call) for (const memory of memoryOf(call.change)) memory.transfer(0)
}

// Who starts this thread is typed (writer.ts).
serveOwners<WriterData, WriterCall>((data, port, end) => {
  const writer = new WriterThread(port, data, end)
  return (message) => writer.take(message)
})
