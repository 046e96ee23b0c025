/** What the writer thread does beside changes. What the steps of a load write stays unseen until `finishLoad` moves the head. */

import { randomUUID } from 'node:crypto'
import { keepsHistory } from '../../../contract/state-tag.ts'
import { freeMemory } from '../../../items/item-run.ts'
import { checkName, newId } from '../../collection-rules.ts'
import type { DeflatePool } from '../../deflate-pool.ts'
import type { Following } from '../../following.ts'
import {
  bytesOf,
  type Cutoff,
  type Forgotten,
  type LoggedChange,
  numberChanges,
  UNKNOWN_VERSION,
} from '../../history.ts'
import { splitItems } from '../../item-text.ts'
import {
  headAfterLoad,
  type LeasedPlan,
  type LoadCounts,
  type LoadedHead,
  planLoad,
  type StagedHistory,
  type StagedReplacements,
  takenKey,
} from '../../load.ts'
import { MAX_POSITION, QUIRE_SIZE, REAM_SIZE, reamsIn, tailStart } from '../../positions.ts'
import type { SealedReam } from '../../ream.ts'
import { byReam, changedReam, ReamDraft } from '../../ream-draft.ts'
import type { Head, LoadOptions, TokenRecord } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import { noteFollowing } from '../following.ts'
import { insertHead, putHead, readHead } from '../rows/head.ts'
import { putReplaced, putStretches } from '../rows/history.ts'
import { claimKeys } from '../rows/keys.ts'
import type { Rows } from '../rows/rows.ts'
import {
  deleteTail,
  insertReam,
  insertTail,
  putTailItem,
  readBegunReam,
  readReam,
  readTailItems,
} from '../rows/stored-ream.ts'
import { insertToken, revokeToken } from '../token.ts'
import { forgetStep } from './forget.ts'
import {
  abandonLease,
  addLeftover,
  checkSteps,
  findObstacle,
  historyOwner,
  type Lease,
  releaseLease,
  renewLease,
  stagingOwner,
  sweepStep,
  takeLease,
} from './lease.ts'
import { FULL_STEP, SMALL_STEP, type StepSize } from './step-size.ts'
import { writeHistory } from './write-draft.ts'

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 5_000

/** What a ream takes, about: of some, because there can be many. */
const REAM_BYTES = `
  SELECT avg(length(data)) FROM (SELECT data FROM ream WHERE collection_id = ? AND generation = ? LIMIT 100)`
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
  /** Whether steps that remove something take little of the log. */
  isSmall = false

  constructor(rows: Rows, pool: DeflatePool) {
    this.#rows = rows
    this.#pool = pool
  }

  get #size(): StepSize {
    return this.isSmall ? SMALL_STEP : FULL_STEP
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
    const position = this.#nextPositions.get(lease.holder)
    if (position === undefined)
      throw new StoreError('lease-lost', `The load into "${lease.name}" lost its writer thread. Start it again.`)
    /** By the index of an item, the position of the one that has its key. */
    const refused = claimKeys(this.#rows, lease, keys, position)
    const [first] = refused
    if (first !== undefined && onConflict === 'fail') throw takenKey(plan, first[0], keys[first[0]], first[1])
    if (onConflict === 'replace' && text !== undefined && refused.size > 0) {
      const [texts, staging] = [splitItems(text), stagingOwner(lease)]
      for (const [index, taken] of refused) putTailItem(this.#rows, staging, taken, texts[index] ?? '')
    }
    this.#nextPositions.set(lease.holder, position + keys.length - refused.size)
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

  /** Prepares the reams that replacements change, some at a time, and what is to be known of the items before. */
  async stageReplacements(plan: SqlitePlan, from: number, before: StagedHistory): Promise<StagedReplacements> {
    const { lease, firstChange } = plan
    renewLease(this.#rows, lease, 1)
    const staging = stagingOwner(lease)
    const pending = readTailItems(this.#rows, staging, from, MAX_POSITION, REPLACEMENTS_A_STEP)
    const reams = [...byReam(new Map(pending.map(({ position, item }) => [position, item])))]
    // The last ream of a full step may have more to come: it is left for the next one.
    const isCut = pending.length === REPLACEMENTS_A_STEP
    const goOn = isCut ? reams.pop()?.[0] : undefined
    const log: LoggedChange[] = []
    for await (const ream of this.#pool.seal(this.#draftsOf(plan, reams))) {
      insertReam(this.#rows, staging, ream)
      freeMemory(ream.data)
      for (const [slot, text] of ream.before)
        log.push({ kind: 'replace', position: ream.number * REAM_SIZE + slot, count: 1, before: text })
    }
    const { generation } = lease
    const first = (firstChange ?? 0) + before.changes
    const stretches = numberChanges({ version: UNKNOWN_VERSION, generation }, first, log)
    putStretches(this.#rows, lease, stretches)
    const staged = { changes: before.changes + stretches.length, bytes: before.bytes + bytesOf(stretches) }
    return { goOn: goOn === undefined ? undefined : goOn * REAM_SIZE, staged }
  }

  /** Each is read when it is its turn. What is wanted of it is what was there before the load. */
  *#draftsOf(
    { lease, base, firstChange }: SqlitePlan,
    changes: readonly [number, ReadonlyMap<number, string>][],
  ): Generator<ReamDraft> {
    for (const [number, slots] of changes) {
      const stored = readReam(this.#rows, lease, number)
      const wantedEnd = firstChange === undefined ? 0 : base - number * REAM_SIZE
      if (stored !== undefined) yield changedReam(stored, slots, wantedEnd)
    }
  }

  /** Makes the load visible: the one commit that readers notice. */
  async finishLoad(plan: SqlitePlan, counts: LoadCounts): Promise<Head> {
    const rows = this.#rows
    const { lease, isReplacement } = plan
    checkSteps(rows, lease, counts.steps)
    const before = readHead(rows, lease.name)
    const inTail = counts.replaced > 0 ? this.#applyReplacements(lease) : []
    const loaded = headAfterLoad(plan, before, counts, inTail, lease.id)
    const { head: after } = loaded
    if (lease.base % REAM_SIZE !== 0) await this.#closeBegun(lease, after)
    const replacedBytes = before !== undefined && isReplacement ? this.#leave(before) : 0
    if (before === undefined) insertHead(rows, after)
    else if (after !== before) putHead(rows, after)
    if (after !== before) this.#writeHistory(loaded, counts, replacedBytes)
    releaseLease(rows, lease)
    this.#nextPositions.delete(lease.holder)
    return after
  }

  #writeHistory({ head, log, firstChange, usesStaged }: LoadedHead, { staged }: LoadCounts, bytes: number): void {
    if (!usesStaged && staged.changes > 0) addLeftover(this.#rows, historyOwner(head), head.changes)
    if (!keepsHistory(head)) return
    writeHistory(this.#rows, head, numberChanges(head, firstChange, log), staged.bytes + bytes)
  }

  /** The generation before a replacement: kept where history is, and else left over. Answers how much of the history it is, about. */
  #leave(before: Head): number {
    const rows = this.#rows
    if (!keepsHistory(before)) {
      addLeftover(rows, before, 0)
      return 0
    }
    putReplaced(rows, before)
    const reamBytes = rows.get(REAM_BYTES, before.id, before.generation)?.[0]
    return Math.round(Number(reamBytes ?? 0) * reamsIn(before))
  }

  /** Removes some of what is not kept any more of the history of a collection. */
  forgetOld(name: string, cutoff?: Cutoff): Forgotten {
    return forgetStep(this.#rows, name, this.#size, cutoff)
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

  /** Answers what it did to items of the tail that were there before the load. */
  #applyReplacements(lease: Lease): LoggedChange[] {
    const rows = this.#rows
    const staging = stagingOwner(lease)
    const inTail: LoggedChange[] = []
    for (const { position, item: before } of readTailItems(rows, lease, 0, MAX_POSITION))
      for (const { item } of readTailItems(rows, staging, position, position + 1)) {
        putTailItem(rows, lease, position, item)
        if (position < lease.base) inTail.push({ kind: 'replace', position, count: 1, before })
      }
    for (const [number] of rows.all(STAGED_REAMS, staging.id, staging.generation) as unknown as [number][]) {
      const ream = readReam(rows, staging, number)
      if (ream !== undefined) insertReam(rows, lease, ream)
    }
    addLeftover(rows, staging, 0)
    return inTail
  }

  sweep(): boolean {
    return sweepStep(this.#rows, this.#size)
  }

  addToken(token: TokenRecord): void {
    insertToken(this.#rows, token)
  }

  revokeToken(name: string, at: number): void {
    revokeToken(this.#rows, name, at)
  }

  noteFollowing(name: string, following: Following | null): void {
    noteFollowing(this.#rows, name, following)
  }
}
