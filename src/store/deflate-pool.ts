/**
 * Makes reams on other threads, so that a load uses all cores. Zlib's own asynchronous calls cost the caller a third as
 * much again. All bytes pass through a few pieces of shared memory that are used again and again: so the process stays
 * flat, whatever the garbage collectors of so many threads have in mind.
 */

import { availableParallelism } from 'node:os'
import type { ReamBytes } from './ream.ts'
import { Thread } from './thread.ts'

type DeflateThread = Thread<DeflateCall, DeflateReply>

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

/** A ream whose bytes lie in shared memory until `release` is called. */
export interface PooledReam {
  readonly ream: ReamBytes
  release(): void
}

interface Task {
  readonly raw: Uint8Array
  readonly count: number
  resolve(pooled: PooledReam): void
  reject(error: unknown): void
}

export class DeflatePool {
  readonly #mostThreads = Math.min(MAX_THREADS, availableParallelism())
  #threads: DeflateThread[] = []
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
      void this.#run(task, memory)
    }
  }

  async #run({ raw, count, resolve, reject }: Task, memory: SharedArrayBuffer): Promise<void> {
    const release = (): void => {
      this.#idleMemory.push(memory)
      this.#handOut()
    }
    let thread: DeflateThread | undefined
    try {
      thread = this.#leastBusyThread()
      new Uint8Array(memory).set(raw)
      const { dataLength, ...ream } = await thread.ask({ memory, rawLength: raw.byteLength, count })
      resolve({ ream: { ...ream, data: new Uint8Array(memory, raw.byteLength, dataLength) }, release })
    } catch (error) {
      // A thread that failed once is not asked again; the others go on.
      this.#threads = this.#threads.filter((each) => each !== thread)
      reject(error)
      release()
    }
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
    const thread: DeflateThread = new Thread(import.meta.url, 'deflate-thread')
    this.#threads.push(thread)
    return thread
  }
}

/** The raw items lie at the beginning of the memory. */
export interface DeflateCall {
  readonly memory: SharedArrayBuffer
  readonly rawLength: number
  readonly count: number
}

/** The ream without its bytes, which lie in the memory behind the raw items. */
export interface DeflateReply extends Omit<ReamBytes, 'data'> {
  readonly dataLength: number
}
