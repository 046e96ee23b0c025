/** A copy: a collection of another store, its reams as they are, unseen until its commit. */

import { type HoleCount, holeCounts } from './rank.ts'
import type { Head } from './store.ts'
import type { KeyPosition, SealedReam, StoredRows, TailItem } from './stored-collection.ts'

export interface CopyOptions {
  /** Swap a collection that is there already. Default false: it is refused. */
  readonly isReplacement?: boolean
}

/** How much of a copy lies in the store already. */
export interface Kept {
  /** The first so many reams. */
  readonly reams: number
  /** All keys up to this one; undefined: none. */
  readonly lastKey: string | undefined
}

/** A copy under way. Nobody sees anything of it before `commit`; each call waits for the one before it. */
export interface Copy {
  /** What an earlier copy of the same state left: see `leave`. It is not written again when it is put again. */
  readonly kept: Kept
  /** In order, and all of them: so what has arrived is always the beginning. */
  putReams(reams: readonly SealedReam[]): Promise<void>
  putTail(items: readonly TailItem[]): Promise<void>
  /** In the order of their bytes, and all of them. */
  putKeys(keys: readonly KeyPosition[]): Promise<void>
  /** Hands out what has arrived, read back from the store. */
  read<T>(use: (rows: StoredRows) => Promise<T>): Promise<T>
  /** Makes all of it visible at once, durably. */
  commit(): Promise<Head>
  /** Ends without a trace. */
  abort(): Promise<void>
  /**
   * Ends so that the next copy of the same state goes on from here. What is left stays unseen, for a day at most, and
   * only until somebody else writes to the collection.
   */
  leave(): Promise<void>
}

/** What an engine does for a copy. */
export interface CopySteps extends Pick<Copy, 'putReams' | 'putTail' | 'putKeys' | 'read'> {
  /** How many positions are gone in each ream, where any are, the tail included. */
  countGone(): Promise<ReadonlyMap<number, number>>
  putHoles(holes: readonly HoleCount[]): Promise<void>
  finish(): Promise<Head>
  abandon(): Promise<void>
  /** Lets the lease be dead from now on, and keeps it. */
  retire(): Promise<void>
  renew(): Promise<void>
  /** Removes what is left over. */
  sweep(): Promise<void>
}

/** The holder of a lease that begins so is a copy: when it has died, the next one may want to go on. */
export const COPY = 'copy '

/** By what a copy knows that an earlier one was of the same state of the same collection. */
export function holderPrefix({ id, commitId }: Head): string {
  return `${COPY}${id} ${commitId} `
}

/** Well within a lease's lifetime: reading back what was written takes longer. */
const RENEWAL_MS = 2_000

/** Rows of hole counts in one commit. */
const HOLES_A_STEP = 5_000

export class ReamCopy implements Copy {
  readonly kept: Kept
  readonly #origin: Head
  readonly #steps: CopySteps
  readonly #lastKey: Buffer | undefined
  readonly #renewal: NodeJS.Timeout
  #renewed: Promise<void> = Promise.resolve()

  constructor(origin: Head, kept: Kept, steps: CopySteps) {
    this.kept = kept
    this.#origin = origin
    this.#steps = steps
    this.#lastKey = kept.lastKey === undefined ? undefined : Buffer.from(kept.lastKey)
    // A lost lease shows in the next step, which also tells the caller.
    this.#renewal = setInterval(() => {
      this.#renewed = steps.renew().catch(() => {})
    }, RENEWAL_MS).unref()
  }

  async putReams(reams: readonly SealedReam[]): Promise<void> {
    const missing = reams.filter(({ number }) => number >= this.kept.reams)
    if (missing.length > 0) await this.#steps.putReams(missing)
  }

  async putTail(items: readonly TailItem[]): Promise<void> {
    if (items.length > 0) await this.#steps.putTail(items)
  }

  async putKeys(keys: readonly KeyPosition[]): Promise<void> {
    const missing = this.#lastKey === undefined ? keys : keys.filter(({ key }) => this.#isBehindLast(key))
    if (missing.length > 0) await this.#steps.putKeys(missing)
  }

  /** Strings compare by their UTF-16, and keys by their UTF-8. */
  #isBehindLast(key: string): boolean {
    return this.#lastKey === undefined || Buffer.compare(Buffer.from(key), this.#lastKey) > 0
  }

  read<T>(use: (rows: StoredRows) => Promise<T>): Promise<T> {
    return this.#steps.read(use)
  }

  async commit(): Promise<Head> {
    if (this.#origin.live < this.#origin.next) await this.#putHoles()
    const head = await this.#steps.finish()
    await this.#end()
    // It is there already: what cannot be removed now is left to the next writer.
    await this.#steps.sweep().catch(() => {})
    return head
  }

  async abort(): Promise<void> {
    await this.#end()
    await this.#steps.abandon()
    await this.#steps.sweep().catch(() => {})
  }

  async leave(): Promise<void> {
    await this.#end()
    await this.#steps.retire()
  }

  async #putHoles(): Promise<void> {
    const holes = holeCounts(await this.#steps.countGone())
    for (let start = 0; start < holes.length; start += HOLES_A_STEP)
      await this.#steps.putHoles(holes.slice(start, start + HOLES_A_STEP))
  }

  async #end(): Promise<void> {
    clearInterval(this.#renewal)
    await this.#renewed
  }
}
