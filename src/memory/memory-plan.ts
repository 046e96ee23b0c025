/** Divides the memory of the machine, or of the container, among everything in Reams that is sized by it. */

import { totalmem } from 'node:os'

const MIB = 1024 * 1024

/** The sizes for one process. */
export interface MemoryPlan {
  /** Bytes of the largest body, and the items or changes in one. */
  readonly bodyBytes: number
  readonly requestItems: number
  /** How many bodies of that size are processed at a time. */
  readonly bodiesAtOnce: number
  /** Memory for responses that clients are slow to read. */
  readonly unsentBytes: number
  /** Memory for pages that are requested again. */
  readonly cacheBytes: number
  /** SQLite's page cache of the connection that writes: keys arrive in any order and touch many pages. */
  readonly writerCacheBytes: number
  /** Threads that deflate, at most. More would only wait for the one that reads and the one that writes. */
  readonly deflateThreads: number
}

/** The sizes on a machine with enough memory. Workers share what the responses and the cache have. */
export const FULL_PLAN: MemoryPlan = {
  bodyBytes: 64 * MIB,
  requestItems: 100_000,
  bodiesAtOnce: 4,
  unsentBytes: 256 * MIB,
  cacheBytes: 64 * MIB,
  writerCacheBytes: 32 * MIB,
  deflateThreads: 4,
}

/** The least memory that a container should have, and the memory from which on a single process has the full plan. */
export const MIN_MEMORY_BYTES = 256 * MIB
export const FULL_MEMORY_BYTES = 2048 * MIB

/** Taken by every process whatever the plan: the program, its threads, and garbage that is yet to be collected. */
const PROCESS_BYTES = 128 * MIB
/** What a worker needs beside that for the full plan. The plan itself comes to some 1,000 MiB. */
const FULL_BYTES = 1824 * MIB
/** Below this part of the full plan a body would be too small for one large item. */
const MIN_SHARE = 1 / 32

/** One client that sends requests ahead can hold this much. With less, it would be disconnected for it. */
const MIN_UNSENT_BYTES = 8 * MIB

/** The plan for each of `workers` processes that share this much memory. With several, one more process watches them. */
export function planMemory(memoryBytes: number, workers = 1): MemoryPlan {
  const processes = workers === 1 ? 1 : workers + 1
  const workerBytes = (memoryBytes - processes * PROCESS_BYTES) / workers
  const share = Math.min(1, Math.max(MIN_SHARE, workerBytes / FULL_BYTES))
  const part = (bytes: number) => Math.floor((bytes * share) / MIB) * MIB
  return {
    bodyBytes: part(FULL_PLAN.bodyBytes),
    requestItems: Math.floor((FULL_PLAN.requestItems * share) / 1_000) * 1_000,
    bodiesAtOnce: Math.min(FULL_PLAN.bodiesAtOnce, Math.max(1, Math.floor(workerBytes / FULL_BYTES))),
    unsentBytes: Math.max(MIN_UNSENT_BYTES, Math.floor(part(FULL_PLAN.unsentBytes) / workers)),
    cacheBytes: Math.floor(part(FULL_PLAN.cacheBytes) / workers),
    writerCacheBytes: part(FULL_PLAN.writerCacheBytes),
    deflateThreads: Math.ceil(FULL_PLAN.deflateThreads * share),
  }
}

/** The memory that this process may use: what its control group allows, or what the machine has. */
export function availableMemory(): number {
  return limitMemory(process.constrainedMemory(), totalmem())
}

/** Without a limit, `constrained` is undefined, 0 or more than any machine has, depending on the system and the runtime. */
export function limitMemory(constrained: number | undefined, total: number): number {
  return constrained ? Math.min(constrained, total) : total
}
