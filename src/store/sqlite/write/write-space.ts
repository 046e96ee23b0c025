/**
 * Decides whether the disk has room for ordinary writes, and makes room for those that free space.
 *
 * A commit first takes space in the log. Moving the log to the file takes as much again, as far as the file grows. If that failed
 * for lack of space, the log could never be reset. So the space that the file still has to grow by counts as taken. Free pages in
 * the file count as free: what is written to the log ends up there. But SQLite never writes a page that was free from the beginning,
 * so the file can have holes, and filling a hole takes space too.
 *
 * What a transaction takes in the log shows only when SQLite writes it there, which it does early where its cache is small. So where
 * space could run out the cache is a fraction of the reserve: before the commit all but that is in the log, and can be measured.
 */

import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MemoryPlan } from '../../../memory/memory-plan.ts'
import { StoreError } from '../../store-error.ts'
import { type DiskSpace, readDiskSpace, reserveBytesOf } from '../file/disk-space.ts'
import { releaseReserve } from '../file/reserve-file.ts'
import { FREE_SPACE } from '../rows/explain-error.ts'
import type { Statements } from '../rows/statements.ts'

/** With so much more than the reserve, no commit can use it up: then nothing else is measured. */
const AMPLE_BYTES = 2 * 1024 ** 3

/** The share of the reserve that must be free on disk, for the log. Free pages in the file can cover the rest. */
const LOG_SHARE = 1 / 4

/** The part of the reserve that SQLite may hold back from the log until a commit. */
const CACHE_SHARE = 1 / 4

/** With less than this many times the reserve, nothing may be owed when a transaction begins. */
const NEARLY_FULL = 16

/** After a commit that failed for lack of space, steps are small until there is this many times the reserve. */
const ROOMY = 4

/** Some file systems free the space of a removed file a moment later. */
const FREEING_MS = 1_000
const PAUSE_MS = 10

interface Measured extends DiskSpace {
  readonly reserveBytes: number
  /** What moving the log to the file will take. */
  readonly owedBytes: number
  /** Space in the file for pages to come. */
  readonly unusedBytes: number
}

export class WriteSpace {
  readonly #rows: Statements
  readonly #path: string
  readonly #pageBytes: number
  /** At the beginning of the transaction; undefined where there is plenty. */
  #begun: Measured | undefined
  #isLow = false
  #wasFull = false
  /** The most free pages since the log was empty: what was written since may lie in holes among them. */
  #mostFreePages = 0
  readonly #maxCacheKib: number
  #cacheKib: number

  constructor(rows: Statements, path: string, { writerCacheBytes }: MemoryPlan) {
    this.#maxCacheKib = Math.floor(writerCacheBytes / 1024)
    this.#cacheKib = this.#maxCacheKib
    this.#rows = rows
    this.#path = path
    this.#pageBytes = this.#pragma('page_size')
  }

  /** Whether ordinary writes are refused now. */
  get isLow(): boolean {
    return this.#isLow
  }

  /** Whether what frees space should take little of the log at a time, and the log should give its space back at once. */
  get isTight(): boolean {
    return this.#isLow || this.#wasFull
  }

  /** How long the log may get before it is moved to the file: if another program fills the disk, the reserve must be enough for that. */
  get mostLogPages(): number {
    return this.#begun === undefined ? Number.POSITIVE_INFINITY : this.#begun.reserveBytes / 2 / this.#pageBytes
  }

  /** To be called before each transaction. */
  measure(): void {
    this.#measure()
    if (!this.isTight && !this.#isNearlyFull()) return
    this.truncateLog()
    this.#measure()
  }

  /**
   * A transaction that runs out of space leaves a longer log, which can be cut off only if nothing is owed. With more free
   * space, the reserve file covers the pending growth.
   */
  #isNearlyFull(): boolean {
    const { freeBytes = 0, reserveBytes = 0, owedBytes = 0 } = this.#begun ?? {}
    return owedBytes > 0 && freeBytes < NEARLY_FULL * reserveBytes
  }

  #measure(): void {
    const disk = readDiskSpace(this.#path)
    const isAmple = disk === undefined || disk.freeBytes >= reserveBytesOf(disk) + AMPLE_BYTES
    this.#begun = isAmple ? undefined : this.#measured(disk)
    this.#isLow = this.#begun !== undefined && !this.#hasRoom(this.#begun)
    this.#limitCache()
    const roomBytes = (disk?.freeBytes ?? Number.POSITIVE_INFINITY) + (this.#begun?.unusedBytes ?? 0)
    if (disk === undefined || (!this.#isLow && roomBytes >= ROOMY * reserveBytesOf(disk))) this.#wasFull = false
  }

  /** To be called before the commit of ordinary writes. Throws if moving them to the file could use up the reserve. */
  checkGrowth(): void {
    if (this.#begun === undefined) return
    const disk = readDiskSpace(this.#path)
    if (disk === undefined) return
    const { owedBytes, reserveBytes } = this.#measured(disk)
    if (owedBytes === 0) return
    const isGrowing = owedBytes > this.#begun.owedBytes
    if (disk.freeBytes < owedBytes + reserveBytes * (isGrowing ? 1 : LOG_SHARE)) throw this.refusal()
  }

  #limitCache(): void {
    const reserveKib = (this.#begun?.reserveBytes ?? Number.POSITIVE_INFINITY) / 1024
    const cacheKib = Math.floor(Math.min(this.#maxCacheKib, reserveKib * CACHE_SHARE))
    if (cacheKib === this.#cacheKib) return
    this.#rows.run(`PRAGMA cache_size = -${cacheKib}`)
    this.#cacheKib = cacheKib
  }

  refusal(): StoreError {
    const { freeBytes = 0, reserveBytes = 0 } = this.#begun ?? {}
    return new StoreError(
      'full',
      `The disk of the store ${this.#path} is full: ${megabytes(freeBytes)} are free, and this write would take some of the ${megabytes(reserveBytes)} that are kept for freeing space. Nothing of this write was kept. ${FREE_SPACE}`,
    )
  }

  /** Moves all of the log to the file and cuts it off, if no reader needs it. */
  truncateLog(): void {
    try {
      const [isBusy] = this.#rows.get('PRAGMA wal_checkpoint(TRUNCATE)') ?? []
      if (isBusy === 0) this.#mostFreePages = 0
    } catch {
      // Everything stays in the log.
    }
  }

  /** To be called when a commit failed for lack of space, here or in SQLite. */
  noteFull(): void {
    this.#wasFull = true
  }

  /** Gives up the reserve file. False if there is none. */
  async release(): Promise<boolean> {
    if (!releaseReserve(this.#path)) return false
    for (const startedAt = performance.now(); performance.now() - startedAt < FREEING_MS; await sleep(PAUSE_MS)) {
      const disk = readDiskSpace(this.#path)
      if (disk === undefined || disk.freeBytes >= reserveBytesOf(disk) / 2) break
    }
    return true
  }

  #measured(disk: DiskSpace): Measured {
    const { size, blocks } = statSync(this.#path)
    const holeBytes = Math.max(0, size - blocks * 512)
    const freePages = this.#pragma('freelist_count')
    this.#mostFreePages = Math.max(this.#mostFreePages, freePages)
    const growthBytes = Math.max(0, this.#pragma('page_count') * this.#pageBytes - size)
    return {
      ...disk,
      reserveBytes: reserveBytesOf(disk),
      // Where the file system compresses, not all that looks like a hole is one, but only free pages can be.
      owedBytes: growthBytes + Math.min(holeBytes, this.#mostFreePages * this.#pageBytes),
      unusedBytes: Math.max(0, freePages * this.#pageBytes - holeBytes),
    }
  }

  #hasRoom({ freeBytes, reserveBytes, owedBytes, unusedBytes }: Measured): boolean {
    const spareBytes = freeBytes - owedBytes
    return spareBytes >= reserveBytes * LOG_SHARE && spareBytes + unusedBytes >= reserveBytes
  }

  #pragma(name: string): number {
    return Number(this.#rows.get(`PRAGMA ${name}`)?.[0])
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
