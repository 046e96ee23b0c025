/** Writes wait in a queue for each collection: what arrives while a commit runs shares the next one. */

import type { StoreActivity } from '../../activity.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import type { Change } from '../../draft.ts'
import type { Once } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import type { Call } from '../../write-draft.ts'
import type { Connections } from '../server/connection.ts'
import { isOfOneCall, OutcomeUnknown } from '../server/explain-error.ts'
import type { StoreUrl } from '../server/store-url.ts'
import { commitTogether, type Outcome } from './commit-together.ts'
import { explainWrite } from './explain-write.ts'
import { tryTransaction, untilKnown } from './try-transaction.ts'

/** Calls in one commit, at most: other processes want to write too. */
const CALLS_A_COMMIT = 256

/** Calls that wait, of all collections: who would be the next is told to come again. */
const MAX_WAITING = 2_000

/** A call that has waited for so long for the commits before it is told to come again. */
const LONGEST_WAIT_MS = 10_000

export interface WriterOptions {
  readonly url: StoreUrl
  readonly pool: DeflatePool
  readonly activity: StoreActivity
  /** After a write, but no more often than this, it is looked for what can be removed. */
  readonly tidyEveryMs: number
  /** Removes what others left behind, and history that is not kept any more, if all of it can be reached. */
  readonly sweep: () => Promise<void>
  readonly onCommit: () => void
}

interface WaitingCall extends Call {
  readonly since: number
  settle(outcome: Outcome): void
  fail(error: unknown): void
}

export class Writer {
  readonly #connections: Connections
  readonly #options: WriterOptions
  #tidiedAt = Number.NEGATIVE_INFINITY
  #tidying: NodeJS.Timeout | undefined
  #isTidying = false
  /** Since it was last looked for what can be removed. */
  #hasWritten = false
  readonly #queues = new Map<string, WaitingCall[]>()
  readonly #running = new Set<Promise<void>>()
  #waiting = 0
  #isClosed = false
  #hasSaidDenied = false

  constructor(connections: Connections, options: WriterOptions) {
    this.#connections = connections
    this.#options = options
  }

  /** Resolves when the change is durable. With `once`, only the first time. */
  async change<T>(name: string, once: Once | undefined, change: Change<unknown>): Promise<T> {
    if (this.#isClosed) throw new StoreError('closed', 'The store is closed.')
    if (this.#waiting >= MAX_WAITING)
      throw new StoreError('overloaded', `${MAX_WAITING} other writes are already waiting. Try again in a moment.`)
    const outcome = await new Promise<Outcome>((resolve, reject) =>
      this.#enqueue(name, { change, once, since: performance.now(), settle: resolve, fail: reject }),
    )
    if ('refusal' in outcome) throw outcome.refusal
    // It is what the change returned, or what it returned the first time.
    return outcome.value as T
  }

  /** Resolves when all that was begun has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#tidying)
    await Promise.all(this.#running)
  }

  #enqueue(name: string, call: WaitingCall): void {
    this.#waiting++
    const queue = this.#queues.get(name)
    if (queue !== undefined) {
      queue.push(call)
      return
    }
    this.#queues.set(name, [call])
    this.#follow(this.#work(name))
  }

  #follow(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #work(name: string): Promise<void> {
    for (let calls = this.#take(name); calls.length > 0; calls = this.#take(name)) {
      await this.#commit(name, calls)
      this.#waiting -= calls.length
      this.#dismiss(name)
    }
    // Where nothing was written, what would be removed may be out of reach too, or locked.
    if (!this.#hasWritten) return
    this.#hasWritten = false
    const restMs = this.#tidiedAt + this.#options.tidyEveryMs - performance.now()
    if (this.#isTidying) return
    if (restMs <= 0) this.#tidyUp()
    else this.#tidying ??= setTimeout(() => this.#tidyUp(), restMs).unref()
  }

  #tidyUp(): void {
    clearTimeout(this.#tidying)
    this.#tidying = undefined
    this.#tidiedAt = performance.now()
    this.#isTidying = true
    // What cannot be removed now is left to a later time.
    const tidied = this.#options.sweep().catch(() => {})
    this.#follow(
      tidied.then(() => {
        this.#isTidying = false
      }),
    )
  }

  /** While the database is slow the queue must not grow slower than it empties. */
  #dismiss(name: string): void {
    const queue = this.#queues.get(name) ?? []
    const oldest = performance.now() - LONGEST_WAIT_MS
    const start = queue.findIndex(({ since }) => since > oldest)
    const seconds = LONGEST_WAIT_MS / 1000
    for (const { fail } of queue.splice(0, start === -1 ? queue.length : start)) {
      this.#waiting--
      fail(
        new StoreError('overloaded', `The writes before this one took more than ${seconds} s. Try again in a moment.`),
      )
    }
  }

  /** The calls of the next commit. A queue that is empty is removed. */
  #take(name: string): WaitingCall[] {
    const queue = this.#queues.get(name) ?? []
    const alone = queue.findIndex(({ change }) => change.isDrop)
    const end = alone === -1 ? CALLS_A_COMMIT : Math.min(CALLS_A_COMMIT, Math.max(1, alone))
    const calls = queue.splice(0, end)
    if (calls.length === 0) this.#queues.delete(name)
    return calls
  }

  async #commit(name: string, calls: readonly WaitingCall[]): Promise<void> {
    try {
      this.#settle(calls, await this.#try(name, calls))
    } catch (error) {
      if (calls.length > 1 && isOfOneCall(error)) {
        for (const call of calls) await this.#commit(name, [call])
        return
      }
      const known = error instanceof OutcomeUnknown ? calls.filter(({ once }) => once !== undefined) : []
      const reason = await this.#explain(error)
      for (const call of calls) if (!known.includes(call)) call.fail(reason)
      if (known.length > 0) await this.#findOut(name, known)
    }
  }

  /** The same again: if it was done, the log of requests knows the answer. */
  async #findOut(name: string, calls: readonly WaitingCall[]): Promise<void> {
    try {
      this.#settle(calls, await untilKnown(() => this.#try(name, calls)))
    } catch (error) {
      const reason = await this.#explain(error)
      for (const { fail } of calls) fail(reason)
    }
  }

  /** A role that may only read is said once, because whoever forgot a GRANT learns it from nobody else. */
  async #explain(error: unknown): Promise<unknown> {
    const reason = await explainWrite(error, this.#options.url, this.#connections)
    const isDenied = reason instanceof StoreError && reason.code === 'writes-denied'
    if (isDenied && !this.#hasSaidDenied) {
      this.#hasSaidDenied = true
      this.#options.activity.onNotice(`Writes are refused, because the role may only read. ${reason.message}`)
    }
    return reason
  }

  #try(name: string, calls: readonly Call[]): Promise<Outcome[]> {
    return tryTransaction(this.#connections, name, (rows) => commitTogether(rows, name, calls, this.#options.pool))
  }

  #settle(calls: readonly WaitingCall[], outcomes: readonly Outcome[]): void {
    this.#hasWritten = true
    this.#options.onCommit()
    this.#options.activity.addCommit(outcomes.filter((outcome) => 'value' in outcome).length)
    for (const [index, outcome] of outcomes.entries()) calls[index]?.settle(outcome)
  }
}
