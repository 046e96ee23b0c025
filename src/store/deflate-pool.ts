/**
 * Makes reams on other threads, so that a load uses all cores. Zlib's own asynchronous calls cost the caller a third as
 * much again; and handing the bytes over in memory that is used again and again keeps the size of the process flat.
 */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { DeflateCall, DeflateReply } from './deflate-thread.ts'
import type { ReamBytes } from './ream.ts'

/** More threads would only wait for the one that reads and the one that writes. */
const MOST_THREADS = 4

/** One ream that a thread works on and one that waits for it. */
const SLOTS_A_THREAD = 2

/**
 * Threads that handle bytes leave hardly any JavaScript behind, but much outside the heap that is freed only together
 * with it. A small young generation keeps that from piling up.
 */
export const SMALL_HEAP = { maxYoungGenerationSizeMb: 2 }

interface Task {
  readonly raw: Uint8Array
  readonly count: number
  resolve(ream: ReamBytes): void
  reject(error: Error): void
}

export class DeflatePool {
  readonly #threads: DeflateThread[] = []
  readonly #waiting: Task[] = []
  readonly #mostThreads = Math.min(MOST_THREADS, availableParallelism())

  encode(raw: Uint8Array, count: number): Promise<ReamBytes> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, count, resolve, reject })
      this.#handOut()
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()))
  }

  #handOut(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#freeThread()
      const task = thread && this.#waiting.shift()
      if (task === undefined) return
      thread?.take(task)
    }
  }

  /** An idle thread rather than a new one, a new one rather than one that has work. */
  #freeThread(): DeflateThread | undefined {
    const idlest = this.#threads.toSorted((a, b) => a.taskCount - b.taskCount)[0]
    if (idlest?.taskCount === 0) return idlest
    if (this.#threads.length === this.#mostThreads) return idlest?.hasRoom ? idlest : undefined
    const thread = new DeflateThread(() => this.#handOut())
    this.#threads.push(thread)
    return thread
  }
}

interface Slot {
  memory: SharedArrayBuffer
  task: Task | undefined
}

class DeflateThread {
  readonly #worker: Worker
  readonly #slots: Slot[] = Array.from({ length: SLOTS_A_THREAD }, () => ({
    memory: new SharedArrayBuffer(0),
    task: undefined,
  }))

  constructor(onRoom: () => void) {
    // Beside this file, under the same extension: .ts in a clone, .js in the package.
    const script = new URL(import.meta.url.replace(/pool\.([jt]s)$/, 'thread.$1'))
    this.#worker = new Worker(script, { execArgv: [], resourceLimits: SMALL_HEAP })
    this.#worker.unref()
    this.#worker.on('message', ({ slot, ream }: DeflateReply) => {
      this.#release(slot)?.resolve(ream)
      onRoom()
    })
    this.#worker.on('error', (error) => {
      const failure = error instanceof Error ? error : new Error(String(error))
      for (const index of this.#slots.keys()) this.#release(index)?.reject(failure)
    })
  }

  get taskCount(): number {
    return this.#slots.filter(({ task }) => task !== undefined).length
  }

  get hasRoom(): boolean {
    return this.taskCount < SLOTS_A_THREAD
  }

  take(task: Task): void {
    const index = this.#slots.findIndex((slot) => slot.task === undefined)
    const slot = this.#slots[index]
    if (slot === undefined) throw new Error('a task was given to a thread without room')
    const { raw, count } = task
    if (slot.memory.byteLength < raw.byteLength) slot.memory = new SharedArrayBuffer(2 * raw.byteLength)
    new Uint8Array(slot.memory).set(raw)
    slot.task = task
    const call: DeflateCall = { slot: index, memory: slot.memory, length: raw.byteLength, count }
    this.#worker.postMessage(call)
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #release(index: number): Task | undefined {
    const slot = this.#slots[index]
    const task = slot?.task
    if (slot !== undefined) slot.task = undefined
    return task
  }
}
