/** What the writer thread does beside changes. What the steps of a load write stays unseen until `finishLoad` moves the head. */

import { randomUUID } from 'node:crypto'
import { freeMemory } from '../../../items/item-run.ts'
import { checkName, newId } from '../../collection-rules.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import { splitItems } from '../../item-text.ts'
import { headAfterLoad, type LeasedPlan, type LoadCounts, planLoad } from '../../load.ts'
import { MAX_POSITION, QUIRE_SIZE, REAM_SIZE, tailStart } from '../../positions.ts'
import type { SealedReam } from '../../ream.ts'
import { byReam, changedReam, ReamDraft } from '../../ream-draft.ts'
import type { Head, LoadOptions, TokenRecord } from '../../store.ts'
import { ItemConflict, StoreError } from '../../store-error.ts'
import { insertHead, putHead, readHead } from '../rows/head.ts'
import type { Rows } from '../rows/rows.ts'
import {
  claimKey,
  deleteTail,
  insertReam,
  insertTail,
  putTailItem,
  readBegunReam,
  readReam,
  readTailItems,
} from '../rows/stored-ream.ts'
import { insertToken, revokeToken } from '../token.ts'
import {
  abandonLease,
  addLeftover,
  checkSteps,
  findObstacle,
  type Lease,
  releaseLease,
  renewLease,
  stagingOwner,
  sweepStep,
  takeLease,
} from './lease.ts'

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 5_000

const STAGED_REAMS = 'SELECT number FROM ream WHERE collection_id = ? AND generation = ?'

/** What the thread has to know of a load. */
export type SqlitePlan = LeasedPlan<Lease>

/**
 * What the thread can be asked to do beside changes of a collection: the steps of loads, tokens, the sweep. It remembers
 * of running loads which position the next claimed key gets.
 */
export class Steps {
  readonly #rows: Rows
  readonly #pool: DeflatePool
  #nextPositions = new Map<string, number>()

  constructor(rows: Rows, pool: DeflatePool) {
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

  beginLoad(name: string, options: LoadOptions): SqlitePlan {
    checkName(name)
    const head = readHead(this.#rows, name)
    const obstacle = findObstacle(this.#rows, name, head)
    if (obstacle !== undefined) throw obstacle
    const plan = planLoad(name, head, options)
    const generation = (head?.generation ?? 1) + (head !== undefined && plan.isReplacement ? 1 : 0)
    const lease = { name, id: head?.id ?? newId(), generation, base: plan.base, holder: randomUUID() }
    takeLease(this.#rows, lease)
    this.#nextPositions.set(lease.holder, lease.base)
    return { ...plan, lease }
  }

  abandonLoad(plan: SqlitePlan): void {
    this.#nextPositions.delete(plan.lease.holder)
    abandonLease(this.#rows, plan.lease)
  }

  /**
   * Gives each key the next position, in order, and answers with the indexes of the items that get none because their key
   * is there already. Replacements are kept aside until the load ends: readers must not see them before.
   */
  claimKeys(plan: SqlitePlan, keys: readonly string[], text: Uint8Array | undefined): number[] {
    const { lease, onConflict } = plan
    renewLease(this.#rows, lease, 1)
    let position = this.#nextPositions.get(lease.holder)
    if (position === undefined)
      throw new StoreError('lease-lost', `The load into "${lease.name}" lost its writer thread. Start it again.`)
    /** By the index of an item, the position of the one that has its key. */
    const refused = new Map<number, number>()
    for (const [index, key] of keys.entries()) {
      const taken = claimKey(this.#rows, lease, key, position)
      if (taken === position) position++
      else if (onConflict === 'fail') throw new ItemConflict(index, key)
      else refused.set(index, taken)
    }
    if (onConflict === 'replace' && text !== undefined && refused.size > 0) {
      const [texts, staging] = [splitItems(text), stagingOwner(lease)]
      for (const [index, taken] of refused) putTailItem(this.#rows, staging, taken, texts[index] ?? '')
    }
    this.#nextPositions.set(lease.holder, position)
    return [...refused.keys()]
  }

  putReams(plan: SqlitePlan, reams: readonly SealedReam[]): void {
    renewLease(this.#rows, plan.lease, 1)
    for (const ream of reams) insertReam(this.#rows, plan.lease, ream)
  }

  putTail(plan: SqlitePlan, from: number, raw: Uint8Array): void {
    renewLease(this.#rows, plan.lease, 1)
    insertTail(this.#rows, plan.lease, from, raw)
  }

  renewLoad(plan: SqlitePlan): void {
    renewLease(this.#rows, plan.lease)
  }

  /** Prepares the reams that replacements change, some at a time. Answers where to go on, or undefined at the end. */
  async stageReplacements(plan: SqlitePlan, from: number): Promise<number | undefined> {
    const { lease } = plan
    renewLease(this.#rows, lease, 1)
    const staging = stagingOwner(lease)
    const pending = readTailItems(this.#rows, staging, from, MAX_POSITION, REPLACEMENTS_A_STEP)
    const reams = [...byReam(new Map(pending.map(({ position, item }) => [position, item])))]
    // The last ream of a full step may have more to come: it is left for the next one.
    const isCut = pending.length === REPLACEMENTS_A_STEP
    const goOn = isCut ? reams.pop()?.[0] : undefined
    for await (const ream of this.#pool.seal(this.#draftsOf(lease, reams))) {
      insertReam(this.#rows, staging, ream)
      freeMemory(ream.data)
    }
    return goOn === undefined ? undefined : goOn * REAM_SIZE
  }

  /** Each is read when it is its turn. */
  *#draftsOf(lease: Lease, changes: readonly [number, ReadonlyMap<number, string>][]): Generator<ReamDraft> {
    for (const [number, slots] of changes) {
      const stored = readReam(this.#rows, lease, number)
      if (stored !== undefined) yield changedReam(stored, slots)
    }
  }

  /** Makes the load visible: the one commit that readers notice. */
  async finishLoad(plan: SqlitePlan, counts: LoadCounts): Promise<Head> {
    const rows = this.#rows
    const { lease, isReplacement } = plan
    checkSteps(rows, lease, counts.steps)
    const before = readHead(rows, lease.name)
    const after = headAfterLoad(plan, before, counts, lease.id)
    if (counts.replaced > 0) this.#applyReplacements(lease)
    if (lease.base % REAM_SIZE !== 0) await this.#closeBegun(lease, after)
    if (before !== undefined && isReplacement) addLeftover(rows, before, 0)
    if (before === undefined) insertHead(rows, after)
    else if (after !== before) putHead(rows, after)
    releaseLease(rows, lease)
    this.#nextPositions.delete(lease.holder)
    return after
  }

  /** The ream that was begun before the load: its new items lie in the tail, and those that make whole quires go to the others. */
  async #closeBegun(lease: Lease, { next }: Head): Promise<void> {
    const rows = this.#rows
    const from = tailStart({ next: lease.base })
    const reamEnd = Math.ceil(lease.base / REAM_SIZE) * REAM_SIZE
    const to = Math.min(tailStart({ next }), reamEnd)
    if (from === to) return
    const draft = new ReamDraft(reamEnd / REAM_SIZE - 1, readBegunReam(rows, lease, { next: lease.base }))
    const items = readTailItems(rows, lease, from, to)
    for (let start = from; start < to; start += QUIRE_SIZE) draft.close(start, items)
    for await (const ream of this.#pool.seal([draft])) insertReam(rows, lease, ream)
    deleteTail(rows, lease, from, to)
  }

  #applyReplacements(lease: Lease): void {
    const rows = this.#rows
    const staging = stagingOwner(lease)
    for (const { position } of readTailItems(rows, lease, 0, MAX_POSITION))
      for (const { item } of readTailItems(rows, staging, position, position + 1))
        putTailItem(rows, lease, position, item)
    for (const [number] of rows.all(STAGED_REAMS, staging.id, staging.generation) as unknown as [number][]) {
      const ream = readReam(rows, staging, number)
      if (ream !== undefined) insertReam(rows, lease, ream)
    }
    addLeftover(rows, staging, 0)
  }

  sweep(): boolean {
    return sweepStep(this.#rows)
  }

  addToken(token: TokenRecord): void {
    insertToken(this.#rows, token)
  }

  revokeToken(name: string, at: number): void {
    revokeToken(this.#rows, name, at)
  }
}
