/**
 * Makes reams on other threads, so that a load uses all cores. Zlib's own asynchronous calls cost the caller a third as
 * much again. All bytes pass through a few pieces of shared memory that are used again and again: so the process stays
 * flat, whatever the garbage collectors of so many threads have in mind.
 */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { ReamBytes } from './ream.ts'

/** More threads would only wait for the one that reads and the one that writes. */
const MAX_THREADS = 4

/** Memory for reams that are being deflated, or wait for it or for the disk: some eighty usual ones. */
const MAX_BYTES = 16 * 1024 * 1024

const MEMORY_STEP_BYTES = 64 * 1024

/** What a much larger ream had is let go: a few of these would leave no memory for the other threads. */
const MAX_SPARE = 4

/** Room for bytes and their ream, also if they do not shrink: deflating adds five bytes to every 16 KiB at the most. */
function memoryFor(raw: Uint8Array): number {
  return 2 * raw.byteLength + Math.ceil(raw.byteLength / 1024) + 4096
}

/** A thread that does one small thing after the other needs no room for its leftovers. */
export const YOUNG_GENERATION_MB = 4

/** A ream whose bytes lie in shared memory until `release` is called. */
export interface PooledReam {
  readonly ream: ReamBytes
  release(): void
}

interface Task {
  readonly raw: Uint8Array
  readonly count: number
  resolve(pooled: PooledReam): void
  reject(error: Error): void
}

export class DeflatePool {
  readonly #mostThreads = Math.min(MAX_THREADS, availableParallelism())
  readonly #threads: DeflateThread[] = []
  readonly #waiting: Task[] = []
  readonly #idleMemory: SharedArrayBuffer[] = []
  #memoryBytes = 0
  #isClosed = false

  /** Whether a thread is at work. What waits for memory is not meant. */
  get isDeflating(): boolean {
    return this.#threads.some(({ callCount }) => callCount > 0)
  }

  /** Resolves with the ream. Others wait while too many have not been released. */
  encode(raw: Uint8Array, count: number): Promise<PooledReam> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, count, resolve, reject })
      this.#handOut()
    })
  }

  /** What waits is refused, what runs is waited for. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The load has ended.'))
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()))
  }

  #handOut(): void {
    if (this.#isClosed) return
    for (let task = this.#waiting[0]; task !== undefined; task = this.#waiting[0]) {
      const memory = this.#takeMemory(memoryFor(task.raw))
      if (memory === undefined) return
      this.#waiting.shift()
      this.#run(task, memory)
    }
  }

  #run(task: Task, memory: SharedArrayBuffer): void {
    const release = (): void => {
      this.#idleMemory.push(memory)
      this.#handOut()
    }
    const thread = this.#leastBusyThread()
    thread.deflate(task.raw, task.count, memory).then(
      (ream) => task.resolve({ ream, release }),
      (error: Error) => {
        // A thread that failed once is not asked again; the others go on.
        if (this.#threads.includes(thread)) this.#threads.splice(this.#threads.indexOf(thread), 1)
        task.reject(error)
        release()
      },
    )
  }

  #takeMemory(leastBytes: number): SharedArrayBuffer | undefined {
    // Reams differ a little in size. With some room to spare the same memory serves them all.
    const length = Math.ceil((leastBytes * 1.25) / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES
    for (let idle = this.#idleMemory.pop(); idle !== undefined; idle = this.#idleMemory.pop()) {
      if (idle.byteLength >= leastBytes && idle.byteLength <= MAX_SPARE * length) return idle
      this.#memoryBytes -= idle.byteLength
    }
    // A single ream may be larger than all of it together should be: then it goes alone.
    if (this.#memoryBytes > 0 && this.#memoryBytes + length > MAX_BYTES) return undefined
    this.#memoryBytes += length
    return new SharedArrayBuffer(length)
  }

  /** An idle thread rather than a new one, a new one rather than one that has work. */
  #leastBusyThread(): DeflateThread {
    const [leastBusy] = this.#threads.toSorted((a, b) => a.callCount - b.callCount)
    const mayStart = this.#threads.length < this.#mostThreads
    if (leastBusy !== undefined && (leastBusy.callCount === 0 || !mayStart)) return leastBusy
    const thread = new DeflateThread()
    this.#threads.push(thread)
    return thread
  }
}

interface Call {
  readonly memory: SharedArrayBuffer
  resolve(ream: ReamBytes): void
  reject(error: Error): void
}

class DeflateThread {
  readonly #worker: Worker
  readonly #hasEnded: Promise<unknown>
  readonly #calls = new Map<number, Call>()
  #lastId = 0
  #isClosing = false

  constructor() {
    // Beside this file, under the same extension: .ts in a clone, .js in the package.
    this.#worker = new Worker(new URL(import.meta.url.replace(/pool\.([jt]s)$/, 'thread.$1')), {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker.on('message', (reply: DeflateReply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('A thread that deflates has ended.')))
    this.#hasEnded = new Promise((resolve) => this.#worker.once('exit', resolve))
  }

  get callCount(): number {
    return this.#calls.size
  }

  deflate(raw: Uint8Array, count: number, memory: SharedArrayBuffer): Promise<ReamBytes> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#calls.set(id, { memory, resolve, reject })
      new Uint8Array(memory).set(raw)
      const call: DeflateCall = { id, memory, rawLength: raw.byteLength, count }
      // Only while somebody waits for it does the thread keep the process alive.
      this.#worker.ref()
      this.#worker.postMessage(call)
    })
  }

  /** Not `terminate`: zlib aborts the process if it is cut off between two of its steps. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#worker.ref()
    this.#worker.postMessage(END)
    await this.#hasEnded
  }

  #settle({ id, dataLength, ...rest }: DeflateReply): void {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    if (this.#calls.size === 0 && !this.#isClosing) this.#worker.unref()
    call?.resolve({ ...rest, data: new Uint8Array(call.memory, rest.rawLength, dataLength) })
  }

  #fail(error: unknown): void {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const { reject } of calls) reject(error instanceof Error ? error : new Error(String(error)))
  }
}

export interface DeflateCall {
  readonly id: number
  readonly memory: SharedArrayBuffer
  readonly rawLength: number
  readonly count: number
}

/** The ream without its bytes, which are in the shared memory. */
export interface DeflateReply extends Omit<ReamBytes, 'data'> {
  readonly id: number
  readonly dataLength: number
}

/** Asks the thread to end. */
export const END = 'end'
