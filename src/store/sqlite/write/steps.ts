/** What the writer thread does besides changes: the steps of loads, the sweep, tokens, what is followed. */

import type { DeflatePool } from '../../deflate-pool.ts'
import type { Following } from '../../following.ts'
import type { Cutoff, Forgotten } from '../../history.ts'
import { splitItems } from '../../item-text.ts'
import { abandonLoad, FULL_STEP, type SweepSize, sweepStep } from '../../leases.ts'
import { type LoadCounts, lostLease, type StagedHistory, type StagedReplacements, takenKey } from '../../load.ts'
import {
  beginLoad,
  finishLoad,
  putLoadedReams,
  putLoadedTail,
  type RunningLoad,
  stageItems,
  stageReplacements,
} from '../../load-steps.ts'
import type { SealedReam } from '../../ream.ts'
import { runAsync, runSync } from '../../rows.ts'
import type { Head, LoadOptions, TokenRecord } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { forgetStep } from '../../stored-history.ts'
import { noteFollowing } from '../following.ts'
import { claimKeys } from '../rows/keys.ts'
import { renewLease } from '../rows/lease-rows.ts'
import type { SqliteRows } from '../rows/sqlite-rows.ts'
import { insertToken, revokeToken } from '../token.ts'

/** Where the disk has little room for the log. Each row may be on a page of its own, and a change on several. */
const SMALL_STEP: SweepSize = { states: 50, changes: 20, reams: 50, rows: 1_000 }

/** Remembers of running loads which position the next claimed key gets. */
export class Steps {
  readonly #rows: SqliteRows
  readonly #pool: DeflatePool
  #nextPositions = new Map<string, number>()
  /** Whether steps that remove something take little of the log. */
  isSmall = false

  constructor(rows: SqliteRows, pool: DeflatePool) {
    this.#rows = rows
    this.#pool = pool
  }

  /** Keeps the positions as they are now. Calling the result restores them, when the transaction is rolled back. */
  savePositions(): () => void {
    const nextPositions = new Map(this.#nextPositions)
    return () => {
      this.#nextPositions = nextPositions
    }
  }

  beginLoad(name: string, options: LoadOptions): RunningLoad {
    const load = runSync(beginLoad(name, options), this.#rows)
    this.#nextPositions.set(load.lease.holder, load.base)
    return load
  }

  abandonLoad({ name, lease }: RunningLoad): void {
    this.#nextPositions.delete(lease.holder)
    runSync(abandonLoad(name, lease.holder), this.#rows)
  }

  /** Gives each key the next position, in order. Returns the indexes of the items whose keys exist already. */
  claimKeys(load: RunningLoad, keys: readonly string[], text: Uint8Array | undefined): number[] {
    this.#renew(load, 1)
    const { lease, onConflict } = load
    const position = this.#nextPositions.get(lease.holder)
    if (position === undefined)
      throw new StoreError('lease-lost', `The load into "${lease.name}" lost its writer thread. Start it again.`)
    /** By the index of an item, the position of the one that has its key. */
    const refused = claimKeys(this.#rows.sql, lease, keys, position)
    const [first] = refused
    if (first !== undefined && onConflict === 'fail') throw takenKey(load, first[0], keys[first[0]], first[1])
    if (onConflict === 'replace' && text !== undefined && refused.size > 0) {
      const texts = splitItems(text)
      const items = new Map([...refused].map(([index, taken]) => [taken, texts[index] ?? '']))
      runSync(stageItems(load, items), this.#rows)
    }
    this.#nextPositions.set(lease.holder, position + keys.length - refused.size)
    return [...refused.keys()]
  }

  putReams(load: RunningLoad, reams: readonly SealedReam[]): void {
    this.#renew(load, 1)
    runSync(putLoadedReams(load, reams), this.#rows)
  }

  putTail(load: RunningLoad, from: number, raw: Uint8Array): void {
    this.#renew(load, 1)
    runSync(putLoadedTail(load, from, raw), this.#rows)
  }

  renewLoad(load: RunningLoad): void {
    this.#renew(load, 0)
  }

  stageReplacements(load: RunningLoad, from: number, before: StagedHistory): Promise<StagedReplacements> {
    this.#renew(load, 1)
    return runAsync(stageReplacements(load, from, before, this.#pool), this.#rows)
  }

  async finishLoad(load: RunningLoad, counts: LoadCounts): Promise<Head> {
    const head = await runAsync(finishLoad(load, counts, this.#pool), this.#rows)
    this.#nextPositions.delete(load.lease.holder)
    return head
  }

  /** Removes some of what is no longer kept of the history of a collection. */
  forgetOld(name: string, cutoff?: Cutoff): Forgotten {
    return runSync(forgetStep(name, this.#size, cutoff), this.#rows)
  }

  /** Removes some of what is left over. Returns whether there may be more. */
  sweep(): boolean {
    const rows = this.#rows
    for (const name of rows.findDeadLeases()) runSync(abandonLoad(name), rows)
    const [shardKey] = rows.findLeftoverShards()
    return shardKey !== undefined && runSync(sweepStep(shardKey, this.#size), rows)
  }

  addToken(token: TokenRecord): void {
    insertToken(this.#rows.sql, token)
  }

  revokeToken(name: string, at: number): void {
    revokeToken(this.#rows.sql, name, at)
  }

  noteFollowing(name: string, following: Following | null): void {
    noteFollowing(this.#rows.sql, name, following)
  }

  get #size() {
    return this.isSmall ? SMALL_STEP : FULL_STEP
  }

  /** Refuses to continue a load whose lease another writer took over. */
  #renew({ lease }: RunningLoad, steps: number): void {
    if (!renewLease(this.#rows.sql, lease, steps)) throw lostLease(lease.name)
  }
}
