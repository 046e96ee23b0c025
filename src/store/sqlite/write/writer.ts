/** The store's end of the writer thread: typed calls that resolve when they are durable. */

import { once as onceEmitted } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ChangeName, ChangeParameters, ChangeResult } from '../../changes.ts'
import { YOUNG_GENERATION_MB } from '../../deflate-pool.ts'
import type { Once } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import type { FilePlace } from '../file/store-file.ts'
import { SweepNeeded } from './lease.ts'
import type { Steps } from './steps.ts'
import {
  type CallMessage,
  type ChangeMessage,
  END,
  packError,
  type ReplyMessage,
  type StepMessage,
  type StepName,
  unpackError,
} from './thread-message.ts'

/** Replies that are handed on in one round of the event loop. */
const REPLIES_A_ROUND = 8

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export class Writer {
  readonly #place: FilePlace
  readonly #waiting = new Map<number, Waiting>()
  /** Calls that are yet to be sent, and replies whose senders are yet to be told. */
  readonly #calls: CallMessage[] = []
  readonly #replies: ReplyMessage[] = []
  #thread: Worker | undefined
  #lastId = 0
  #isClosed = false

  constructor(place: FilePlace) {
    this.#place = place
  }

  /** Asks the thread for a step. */
  step<Name extends StepName>(
    operation: Name,
    ...parameters: Parameters<Steps[Name]>
  ): Promise<ReturnType<Steps[Name]>> {
    return this.#send({ operation, parameters })
  }

  /** Asks for a change of a collection; with `once`, only the first time. */
  change<Name extends ChangeName>(
    name: string,
    once: Once | undefined,
    operation: Name,
    parameters: ChangeParameters<Name>,
  ): Promise<ChangeResult<Name>> {
    return this.#send({ name, operation, parameters, once })
  }

  /** The thread answers with what the operation returned. */
  async #send<T>(call: Omit<ChangeMessage, 'id'> | Omit<StepMessage, 'id'>): Promise<T> {
    for (;;) {
      try {
        return (await this.#sendOnce(call)) as T
      } catch (error) {
        if (!(error instanceof SweepNeeded)) throw error
        await this.sweep()
      }
    }
  }

  #sendOnce(call: Omit<ChangeMessage, 'id'> | Omit<StepMessage, 'id'>): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new StoreError('closed', 'The store is closed.'))
    const thread = this.#started()
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      thread.ref()
      if (this.#calls.length === 0) setImmediate(() => this.#post())
      this.#calls.push({ id, ...call })
    })
  }

  /** Sends the calls of one round of the event loop together: a message costs more than the calls in it. */
  #post(): void {
    const calls = this.#calls.splice(0)
    try {
      if (calls.length > 0) this.#thread?.postMessage(calls)
    } catch {
      // Something in one of them cannot be sent. That one fails alone.
      for (const call of calls) this.#postAlone(call)
    }
  }

  #postAlone(call: CallMessage): void {
    try {
      this.#thread?.postMessage([call])
    } catch (error) {
      this.#settle({ id: call.id, failure: packError(error) })
    }
  }

  /** Removes everything that is left over, in many small commits. */
  async sweep(): Promise<void> {
    while (await this.step('sweep'));
  }

  /** Ends the thread after the calls that were made before. */
  async close(): Promise<void> {
    this.#isClosed = true
    const thread = this.#thread
    if (thread === undefined) return
    this.#post()
    thread.ref()
    const hasEnded = onceEmitted(thread, 'exit')
    thread.postMessage(END)
    await hasEnded
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread
    // Beside this file, under the same extension: .ts in a clone, .js in the package.
    const thread = new Worker(new URL(import.meta.url.replace(/writer\.([jt]s)$/, 'writer-thread.$1')), {
      workerData: this.#place,
      // Flags that the program was started with, such as --input-type, may not fit a thread.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    thread.on('message', (replies: readonly ReplyMessage[]) => {
      this.#replies.push(...replies)
      if (this.#replies.length === replies.length) this.#settleSome()
    })
    thread.on('error', (error) => this.#fail(thread, error))
    const ended = new StoreError('closed', 'The store was closed before the write was done.')
    thread.on('exit', () => this.#fail(thread, ended))
    this.#thread = thread
    return thread
  }

  /** Many have waited for one commit. If all were told at once, whoever only reads would wait until all are answered. */
  #settleSome(): void {
    for (const reply of this.#replies.splice(0, REPLIES_A_ROUND)) this.#settle(reply)
    if (this.#replies.length > 0) setImmediate(() => this.#settleSome())
  }

  #settle(reply: ReplyMessage): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (this.#waiting.size === 0 && !this.#isClosed) this.#thread?.unref()
    if ('failure' in reply) waiting?.reject(unpackError(reply.failure))
    else waiting?.resolve(reply.value)
  }

  /** The thread is gone: whoever waits is told, and the next call starts a new one. */
  #fail(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    for (const reply of this.#replies.splice(0)) this.#settle(reply)
    this.#calls.length = 0
    for (const { reject } of this.#waiting.values()) reject(error instanceof Error ? error : new Error(String(error)))
    this.#waiting.clear()
  }
}
