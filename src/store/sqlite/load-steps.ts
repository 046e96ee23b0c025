/** The steps of a load that run in the writer thread. What they write stays unseen until `finishLoad` moves the head. */

import { randomUUID } from 'node:crypto'
import { checkName, checkRoom, checkSettings, completeSettings, newId } from '../collection-rules.ts'
import type { LoadPlan } from '../load.ts'
import { changeReam, openReam } from '../open-ream.ts'
import { REAM_SIZE } from '../rank.ts'
import type { SealedReam } from '../ream.ts'
import { byReam, encodeReam, splitItems } from '../ream.ts'
import type { Head, LoadOptions } from '../store.ts'
import { ItemConflict, StoreError } from '../store-error.ts'
import { insertCollection, requireHead, updateHead } from './collection.ts'
import { readHead } from './head.ts'
import { claimKey } from './key.ts'
import { insertReam, insertTail, putTailItem, sealTail } from './put-items.ts'
import type { Rows } from './rows.ts'
import { readReam, readTailItems } from './stored-ream.ts'
import {
  abandonLease,
  addLeftover,
  beginStep,
  checkNothingInTheWay,
  checkSteps,
  type Lease,
  releaseLease,
  renewLease,
  stagingShelf,
  takeLease,
} from './sweep.ts'

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 5_000

/** A position beyond every other. */
const END = Number.MAX_SAFE_INTEGER

const STAGED_REAMS = 'SELECT number FROM ream WHERE collection_id = ? AND generation = ?'

/** What the thread has to know of a load. */
export interface LeasedPlan extends LoadPlan {
  readonly lease: Lease
  readonly isNew: boolean
  readonly isReplacement: boolean
}

export interface LoadCounts {
  readonly appended: number
  readonly replaced: number
  /** Steps that were committed before. */
  readonly steps: number
}

function beginLoad(rows: Rows, name: string, options: LoadOptions): LeasedPlan {
  checkName(name)
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  const { settings: wanted = {}, isReplacement = false, onConflict = 'fail' } = options
  const settings = head ?? completeSettings(wanted)
  if (head !== undefined) checkSettings(head, wanted)
  if (onConflict !== 'fail' && settings.keyField === null)
    throw new StoreError(
      'no-key-field',
      `The collection "${name}" has no key, so no item can be there already: "on conflict ${onConflict}" means nothing for it. Leave that out, or import under another name with a key.`,
    )
  const lease: Lease = {
    name,
    id: head?.id ?? newId(),
    generation: (head?.generation ?? 1) + (head !== undefined && isReplacement ? 1 : 0),
    base: isReplacement ? 0 : (head?.next ?? 0),
    holder: randomUUID(),
  }
  takeLease(rows, lease)
  const live = isReplacement ? 0 : (head?.live ?? 0)
  const { keyField, isPaginated, isPrivate } = settings
  return {
    name,
    base: lease.base,
    lease,
    settings: { keyField, isPaginated, isPrivate },
    isNew: head === undefined,
    isReplacement,
    onConflict,
    live,
  }
}

/** The steps that share what the thread remembers of running loads: which position the next claimed key gets. */
export class LoadSteps {
  readonly #rows: Rows
  readonly #nextPositions = new Map<string, number>()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  beginLoad(name: string, options: LoadOptions): LeasedPlan {
    const plan = beginLoad(this.#rows, name, options)
    this.#nextPositions.set(plan.lease.holder, plan.lease.base)
    return plan
  }

  abandonLoad(plan: LeasedPlan): void {
    this.#nextPositions.delete(plan.lease.holder)
    abandonLease(this.#rows, plan.lease)
  }

  /**
   * Gives each key the next position, in order, and answers with the indexes of the items that get none because their key
   * is there already. Replacements are kept aside until the load ends: readers must not see them before.
   */
  claimKeys(plan: LeasedPlan, keys: readonly string[], text: Uint8Array | undefined): number[] {
    const { lease, onConflict } = plan
    beginStep(this.#rows, lease)
    let position = this.#nextPositions.get(lease.holder)
    if (position === undefined)
      throw new StoreError('lease-lost', `The load into "${lease.name}" lost the thread that wrote it. Start it again.`)
    /** By the index of an item, the position of the one that has its key. */
    const refused = new Map<number, number>()
    for (const [index, key] of keys.entries()) {
      const taken = claimKey(this.#rows, lease, key, position)
      if (taken === position) position++
      else if (onConflict === 'fail') throw new ItemConflict(index, key)
      else refused.set(index, taken)
    }
    if (onConflict === 'replace' && text !== undefined && refused.size > 0)
      this.#keepReplacements(lease, splitItems(text), refused)
    this.#nextPositions.set(lease.holder, position)
    return [...refused.keys()]
  }

  #keepReplacements(lease: Lease, texts: readonly string[], refused: ReadonlyMap<number, number>): void {
    for (const [index, position] of refused) putTailItem(this.#rows, stagingShelf(lease), position, texts[index] ?? '')
  }

  putReams(plan: LeasedPlan, reams: readonly SealedReam[]): void {
    beginStep(this.#rows, plan.lease)
    for (const ream of reams) insertReam(this.#rows, plan.lease, ream.number, ream, ream.gone)
  }

  putTail(plan: LeasedPlan, from: number, raw: Uint8Array): void {
    beginStep(this.#rows, plan.lease)
    insertTail(this.#rows, plan.lease, from, raw)
  }

  renewLoad(plan: LeasedPlan): void {
    renewLease(this.#rows, plan.lease)
  }

  /** Prepares the reams that replacements change, some at a time. Answers where to go on, or undefined at the end. */
  stageReplacements(plan: LeasedPlan, from: number): number | undefined {
    const { lease } = plan
    beginStep(this.#rows, lease)
    const staging = stagingShelf(lease)
    const pending = readTailItems(this.#rows, staging, from, END, REPLACEMENTS_A_STEP)
    const reams = [...byReam(new Map(pending.map(({ position, item }) => [position, item])))]
    // The last ream of a full step may have more to come: it is left for the next one.
    const isCut = pending.length === REPLACEMENTS_A_STEP
    const goOn = isCut ? reams.pop()?.[0] : undefined
    for (const [number, slots] of reams) {
      const stored = readReam(this.#rows, lease, number)
      if (stored === undefined) continue
      const { raw, count, gone } = changeReam(openReam(stored), slots)
      insertReam(this.#rows, staging, number, encodeReam(raw, count), gone)
    }
    return goOn === undefined ? undefined : goOn * REAM_SIZE
  }

  /** Makes the load visible: the one commit that readers notice. */
  finishLoad(plan: LeasedPlan, { appended, replaced, steps }: LoadCounts): Head {
    const rows = this.#rows
    const { lease, settings, isReplacement } = plan
    checkSteps(rows, lease, steps)
    checkRoom({ ...settings, name: lease.name, live: plan.live }, appended)
    const next = lease.base + appended
    if (replaced > 0) this.#applyReplacements(lease)
    const begun = Math.floor(lease.base / REAM_SIZE)
    if (lease.base % REAM_SIZE !== 0 && next >= (begun + 1) * REAM_SIZE) sealTail(rows, lease, begun, new Uint8Array(0))
    const { name, id, generation } = lease
    if (plan.isNew) insertCollection(rows, name, { id, settings, generation, next, live: next })
    else if (isReplacement || appended > 0 || replaced > 0) {
      const head = requireHead(rows, lease.name)
      if (isReplacement) addLeftover(rows, head, 0)
      const isPureAppend = !isReplacement && replaced === 0
      updateHead(rows, head, { generation: lease.generation, next, live: plan.live + appended }, isPureAppend)
    }
    releaseLease(rows, lease)
    this.#nextPositions.delete(lease.holder)
    return requireHead(rows, lease.name)
  }

  #applyReplacements(lease: Lease): void {
    const rows = this.#rows
    const staging = stagingShelf(lease)
    for (const { position } of readTailItems(rows, lease, 0, END))
      for (const { item } of readTailItems(rows, staging, position, position + 1))
        putTailItem(rows, lease, position, item)
    for (const [number] of rows.all(STAGED_REAMS, staging.id, staging.generation) as unknown as [number][]) {
      const ream = readReam(rows, staging, number)
      if (ream !== undefined) insertReam(rows, lease, number, ream, ream.gone)
    }
    addLeftover(rows, staging, 0)
  }
}
