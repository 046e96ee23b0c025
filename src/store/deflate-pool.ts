/**
 * Makes and changes reams on other threads, so that a load or a large write uses all cores. Zlib's own asynchronous calls cost the
 * caller a third as much again. The bytes of a load pass through a few pieces of shared memory that are used again and again: so the
 * process stays flat, whatever the garbage collectors of so many threads have in mind. A ream to be changed is given to its thread.
 */

import { availableParallelism } from 'node:os'
import { free, own } from '../items/owned-bytes.ts'
import { roomFor } from '../items/raw-deflate.ts'
import { availableMemory, type MemoryPlan, planMemory } from '../memory/memory-plan.ts'
import type { RawItems } from './item-text.ts'
import type { ReamBytes } from './ream.ts'
import { type ChangedReam, type ReamDraft, type ReamEdit, sealReam } from './ream-draft.ts'
import { Thread } from './thread.ts'

type DeflateThread = Thread<ReamCall | EditCall, ReamReply | EditReply>

/** Reams to be made anew that go in one message, at most. */
const REAMS_A_MESSAGE = 16
const BYTES_A_MESSAGE = 4 * 1024 * 1024
/** Messages on their way, to or from a thread. */
const BATCHES_A_THREAD = 2

/** Memory for reams that are being deflated, or wait for it or for the disk: some eighty usual ones. */
const MAX_BYTES = 16 * 1024 * 1024

const MEMORY_STEP_BYTES = 64 * 1024

/** What a much larger ream had is let go: a few of these would leave no memory for the other threads. */
const MAX_SPARE = 4

/** Room for bytes and their ream. */
function memoryFor({ byteLength }: Uint8Array): number {
  return byteLength + roomFor(byteLength)
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
  readonly #mostThreads: number
  #threads: DeflateThread[] = []
  readonly #waiting: Task[] = []
  readonly #idleMemory: SharedArrayBuffer[] = []
  #memoryBytes = 0
  #isClosed = false

  /** With this many threads, unless there are too few cores: one is left to those that read and write. */
  constructor({ deflateThreads }: Pick<MemoryPlan, 'deflateThreads'> = planMemory(availableMemory())) {
    this.#mostThreads = Math.max(1, Math.min(deflateThreads, availableParallelism() - 1))
  }

  /** Whether a thread is at work. What waits for memory is not meant. */
  get isDeflating(): boolean {
    return this.#threads.some(({ callCount }) => callCount > 0)
  }

  /** Resolves with the ream: see `encodeReam`. Others wait while too many have not been released. */
  encode(raw: Uint8Array, count: number): Promise<PooledReam> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, count, resolve, reject })
      this.#handOut()
    })
  }

  /**
   * Makes reams of what they are to become, in their order, while whoever asked has those before and reads those behind. Few are
   * made on the spot: a message takes as long as one of them.
   */
  async *seal(drafts: Iterable<ReamDraft>): AsyncGenerator<ChangedReam> {
    const batches = inBatches(drafts)
    const ahead: Promise<readonly ChangedReam[]>[] = []
    for (;;) {
      while (ahead.length < BATCHES_A_THREAD * this.#mostThreads) {
        const { value: batch } = batches.next()
        if (batch === undefined) break
        const sealed = this.#sealBatch(batch)
        // It is told when they are asked for, if that happens.
        sealed.catch(() => {})
        ahead.push(sealed)
      }
      const sealed = await ahead.shift()
      if (sealed === undefined) return
      yield* sealed
    }
  }

  async #sealBatch(batch: Batch): Promise<readonly ChangedReam[]> {
    const isSmall = batch.length < REAMS_A_MESSAGE / 2
    const sealed = isSmall ? batch.map(({ edit }) => sealReam(edit)) : await this.#askToSeal(batch)
    // The drafts are done with what was stored.
    for (const { edit } of batch) if (edit.stored !== undefined) free(own(edit.stored.data))
    return sealed
  }

  async #askToSeal(batch: Batch): Promise<readonly ChangedReam[]> {
    const thread = this.#leastBusyThread()
    const edits = batch.map(({ edit }) => ({ ...edit, closed: edit.closed.map(alone) }))
    const stored = batch.flatMap(({ draft, edit }) => (draft.isReadAgain ? ownMemory(edit.stored?.data) : []))
    const closed = edits.flatMap((edit) => edit.closed.flatMap(({ raw }) => ownMemory(raw)))
    try {
      // The thread is typed (deflate-thread.ts): it answers what it was asked for.
      return ((await thread.ask({ edits }, [...stored, ...closed])) as EditReply).sealed
    } catch {
      // What a thread failed at is tried here, where it shows if something is wrong.
      this.#threads = this.#threads.filter((each) => each !== thread)
      return batch.map(({ draft }) => sealReam(draft.edit()))
    }
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
      const reply = await thread.ask({ memory, rawLength: raw.byteLength, count })
      const { dataLength, ...ream } = reply as ReamReply
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
    const thread: DeflateThread = new Thread('store/deflate-thread', { isBatching: true })
    this.#threads.push(thread)
    return thread
  }
}

type Batch = readonly { readonly draft: ReamDraft; readonly edit: ReamEdit }[]

/** With its items in memory of their own: a message takes along all of the memory in which bytes lie. */
function alone<T extends RawItems>(items: T): T {
  return { ...items, raw: new Uint8Array(items.raw) }
}

/** What a thread gets of it, and gives back, about. */
function bytesOf({ stored, closed, changes, wanted }: ReamEdit): number {
  let bytes = (wanted.size > 0 ? stored?.rawLength : stored?.data.byteLength) ?? 0
  for (const { raw } of closed) bytes += raw.byteLength
  for (const text of changes.values()) bytes += text?.length ?? 0
  return bytes
}

/** What can be given away with these bytes: memory that holds nothing else. */
function ownMemory(bytes: Uint8Array | undefined): ArrayBuffer[] {
  const isOwn = bytes?.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
  return isOwn ? [bytes.buffer as ArrayBuffer] : []
}

function* inBatches(drafts: Iterable<ReamDraft>): Generator<Batch, undefined> {
  let batch: Batch[number][] = []
  let bytes = 0
  for (const draft of drafts) {
    const edit = draft.edit()
    batch.push({ draft, edit })
    bytes += bytesOf(edit)
    if (batch.length < REAMS_A_MESSAGE && bytes < BYTES_A_MESSAGE) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** The raw items lie at the beginning of the memory. */
export interface ReamCall {
  readonly memory: SharedArrayBuffer
  readonly rawLength: number
  readonly count: number
}

/** The ream without its bytes, which lie in the memory behind the raw items. */
export interface ReamReply extends Omit<ReamBytes, 'data'> {
  readonly dataLength: number
}

export interface EditCall {
  readonly edits: readonly ReamEdit[]
}

export interface EditReply {
  readonly sealed: readonly ChangedReam[]
}
