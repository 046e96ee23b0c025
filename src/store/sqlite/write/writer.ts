/** The store's end of the writer thread: typed calls that resolve when they are durable. */

import type { MemoryPlan } from '../../../memory/memory-plan.ts'
import type { StoreActivity } from '../../activity.ts'
import { type ChangeCall, memoryOf } from '../../changes.ts'
import { SweepNeeded } from '../../leases.ts'
import { KeysTaken } from '../../load.ts'
import type { CommitStep, StepName } from '../../steps.ts'
import type { Once } from '../../store.ts'
import { ItemConflict, StoreError } from '../../store-error.ts'
import { Thread } from '../../thread.ts'
import type { FilePlace } from '../file/store-file.ts'
import { isFull } from '../rows/explain-error.ts'

/** What the writer thread is started with. */
export interface WriterData {
  readonly place: FilePlace
  readonly plan: MemoryPlan
}

export class Writer {
  readonly #data: WriterData
  readonly #activity: StoreActivity
  readonly #onFull: () => void
  #thread: Thread<WriterCall, Outcome> | undefined
  #isClosed = false

  /** `onFull` is called when a write was refused because the disk is full. */
  constructor(data: WriterData, activity: StoreActivity, onFull: () => void) {
    this.#data = data
    this.#onFull = onFull
    this.#activity = activity
  }

  step: CommitStep = (operation, ...parameters) => this.ask({ operation, parameters })

  async ask<T>(call: WriterCall): Promise<T> {
    for (;;) {
      if (this.#isClosed) throw new StoreError('closed', 'The store is closed.')
      const memory = 'change' in call ? memoryOf(call.change) : []
      const outcome = await this.#started().ask(call, memory)
      if (!('failure' in outcome)) return outcome.value as T
      const error = unpackError(outcome.failure)
      if (isFull(error)) this.#onFull()
      if (!(error instanceof SweepNeeded)) throw error
      await this.sweep()
      // The thread has the memory of a large write, so only the client can send it again.
      if (memory.length > 0)
        throw new StoreError('busy', 'An import that was killed was in the way and has been removed. Try again.')
    }
  }

  /** Removes everything that is left over, in many small commits. */
  async sweep(): Promise<void> {
    while (await this.step('sweep'));
  }

  /** Ends the thread after the calls that were made before. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }

  /** After a thread that was lost the next call starts a new one. */
  #started(): Thread<WriterCall, Outcome> {
    const onEnd = (): void => {
      this.#thread = undefined
    }
    // The replies that come together are those of one commit.
    const onReplies = (replies: readonly Outcome[]): void =>
      this.#activity.addCommit(replies.filter((reply) => 'isChange' in reply).length)
    const options = { data: this.#data, isBatching: true, onReplies, onEnd }
    this.#thread ??= new Thread('store/sqlite/write/writer-thread', options)
    return this.#thread
  }
}

/** A change of one collection; with `once`, only the first time. */
export interface NamedChange {
  readonly name: string
  readonly once: Once | undefined
  readonly change: ChangeCall
}

/** Anything else. */
export interface StepCall {
  readonly operation: StepName
  readonly parameters: readonly unknown[]
}

export type WriterCall = NamedChange | StepCall

export type Outcome = { readonly value: unknown; readonly isChange?: true } | { readonly failure: Failure }

/** An error in a form that survives the way between threads, where classes get lost. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code?: StoreError['code']
  readonly collection?: string | undefined
  readonly index?: number
  readonly key?: string
  readonly earlier?: number | undefined
}

export function packError(error: unknown): Failure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof StoreError)) return { name, message, stack }
  const { code, collection } = error
  const conflict = error instanceof ItemConflict ? { index: error.index, key: error.key, earlier: error.earlier } : {}
  return { name, message, stack, code, collection, ...conflict }
}

export function unpackError(failure: Failure): Error {
  const { name, message, code, collection, index, key, earlier } = failure
  if (name === 'SweepNeeded') return new SweepNeeded()
  if (name === 'KeysTaken') return new KeysTaken(message)
  if (index !== undefined && key !== undefined) return new ItemConflict(index, key, earlier)
  if (code !== undefined) return new StoreError(code, message, { collection })
  const error = new Error(message)
  if (failure.stack !== undefined) error.stack = failure.stack
  return error
}
