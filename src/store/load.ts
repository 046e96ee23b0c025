/** A load: many items into one collection, unseen until its commit. Deflating runs beside reading and writing. */

import { keepsHistory } from '../contract/state-tag.ts'
import type { ItemRun } from '../items/item-run.ts'
import { free, own } from '../items/owned-bytes.ts'
import {
  checkFits,
  checkLoadState,
  checkOrigin,
  checkSettings,
  completeSettings,
  movedHead,
  newHead,
  requireKeys,
} from './collection-rules.ts'
import { DeflatePool, type PooledReam } from './deflate-pool.ts'
import type { LoggedChange } from './history.ts'
import { cutItems, editItems, ItemCollector, type RawItems } from './item-text.ts'
import { REAM_SIZE, tailStart } from './positions.ts'
import type { SealedReam } from './ream.ts'
import type { CollectionSettings, Head, Load, LoadOptions, LoadResult, OnConflict, Origin } from './store.ts'
import { ItemConflict, StoreError } from './store-error.ts'

/** All that a load knows from its beginning. */
export interface LoadPlan {
  readonly name: string
  readonly settings: CollectionSettings
  readonly isNew: boolean
  readonly isReplacement: boolean
  readonly onConflict: OnConflict
  /** Where the new items begin. */
  readonly base: number
  /** The items that the new ones come after. */
  readonly live: number
  /** The number of its first change, where history is kept. */
  readonly firstChange: number | undefined
  /** Whether the collection is a mirror: it must still be one at the end. */
  readonly isMirror: boolean
}

/** What a load is going to do to a collection, `head` being undefined where there is none. */
export function planLoad(name: string, head: Head | undefined, options: LoadOptions): LoadPlan {
  const { settings: wanted = {}, isReplacement = false, onConflict = 'fail' } = options
  checkLoadState(name, head, options.state)
  if (head !== undefined && !options.isMirroring) checkOrigin(head, undefined)
  if (head !== undefined) checkSettings(head, wanted)
  const { keyField, isPaginated, isPrivate } = head ?? completeSettings(wanted)
  if (onConflict !== 'fail' && keyField === null)
    throw new StoreError(
      'no-key-field',
      `The collection "${name}" has no key, so no item can be there already: "on conflict ${onConflict}" means nothing for it. Leave that out, or import under another name with a key.`,
    )
  const { next: base = 0, live = 0 } = isReplacement ? {} : (head ?? {})
  const settings = { keyField, isPaginated, isPrivate }
  const firstChange = head !== undefined && keepsHistory(head) ? head.changes : undefined
  return {
    name,
    settings,
    isNew: head === undefined,
    isReplacement,
    onConflict,
    base,
    live,
    firstChange,
    isMirror: head !== undefined && head.origin !== null,
  }
}

/** The error for the item `index` of a run, whose key the item at `position` has. Until it, every item got a position of its own. */
export function takenKey({ base }: LoadPlan, index: number, key: string | undefined, position: number): ItemConflict {
  return new ItemConflict(index, key ?? '', position < base ? undefined : position - base)
}

/** Keys that were to be added exist already. */
export class KeysTaken extends Error {
  override readonly name = 'KeysTaken'
}

/** What is written of a load's history before it ends. Readers do not see it: its numbers are beyond the head. */
export interface StagedHistory {
  readonly changes: number
  readonly bytes: number
}

export interface LoadCounts {
  readonly appended: number
  readonly replaced: number
  /** Steps that were committed before. */
  readonly steps: number
  readonly staged: StagedHistory
  /** Of the mirror that the collection is then. */
  readonly origin: Origin | null
}

/** What a load comes to. */
export interface LoadedHead {
  readonly head: Head
  /** Its changes beside those that are staged, and the number of the first. */
  readonly log: readonly LoggedChange[]
  readonly firstChange: number
  /** Whether what was staged belongs to the history: history may have been switched off or on meanwhile. */
  readonly usesStaged: boolean
}

/**
 * The head with all that was loaded; `before` is undefined for a collection that begins. `inTail` are the items of the tail that
 * were replaced.
 */
export function headAfterLoad(
  plan: LoadPlan,
  before: Head | undefined,
  { appended, replaced, staged, origin }: LoadCounts,
  inTail: readonly LoggedChange[],
  id?: number,
): LoadedHead {
  const { name, settings, base, live, isReplacement } = plan
  checkFits({ ...settings, name, live }, appended)
  if (plan.isMirror && before?.origin === null)
    throw new StoreError('precondition-failed', `The collection "${name}" is no mirror any more.`)
  const content = { next: base + appended, live: live + appended, origin }
  const nothing = { log: [], firstChange: 0, usesStaged: false }
  if (before === undefined) return { head: { ...newHead(name, settings, id), ...content }, ...nothing }
  const isPureAppend = !isReplacement && replaced === 0
  if (isPureAppend && appended === 0 && origin?.position === before.origin?.position)
    return { head: before, ...nothing }
  const generation = before.generation + (isReplacement ? 1 : 0)
  const move = (change: Partial<Head>) => movedHead(before, { ...content, generation, ...change }, isPureAppend)
  if (!keepsHistory(before)) return { head: move({}), ...nothing }
  const isUnknown = !isPureAppend && !isReplacement && plan.firstChange !== before.changes
  // History was switched on too late to have what was replaced: it begins with this load.
  if (isUnknown) return { head: move({ historyFrom: before.version + 1 }), ...nothing }
  const firstChange = before.changes + staged.changes
  const log: LoggedChange[] = isReplacement ? [{ kind: 'reset', position: 0, count: 1 }] : [...inTail]
  if (appended > 0) log.push({ kind: 'append', position: base, count: appended })
  const changes = firstChange + log.reduce((sum, { count }) => sum + count, 0)
  return { head: move({ changes }), log, firstChange, usesStaged: true }
}

/** A load that has its lease, as the engine keeps it. */
export interface LeasedPlan<Lease> extends LoadPlan {
  readonly lease: Lease
}

/** A lease that was not renewed for so long belongs to a process that is gone or stopped. */
export const LEASE_LIFETIME_MS = 10_000

/** What one step of a sweep removes, at most: small enough that other writers hardly wait. */
export const REAMS_A_SWEEP = 500
export const ROWS_A_SWEEP = 20_000

export function lostLease(name: string): StoreError {
  return new StoreError(
    'lease-lost',
    `The load into "${name}" stalled for more than ${LEASE_LIFETIME_MS / 1000} s and another writer took over. Nothing of it was kept; start it again.`,
  )
}

/** Refuses writes while a load is running. */
export function busyCollection(lease: { name: string; startedAt: number; pid: number; host: string }): StoreError {
  const { name, startedAt, pid, host } = lease
  return new StoreError(
    'busy',
    `An import or a copy of "${name}" has been running since ${new Date(startedAt).toISOString()} (process ${pid} on ${host}). Wait until it has ended, then try again.`,
  )
}

export function leftoversInUse(): StoreError {
  return new StoreError(
    'corrupt',
    'Rows that are marked as leftovers are in use. `reams verify` has details; nothing was removed.',
  )
}

/** Where to continue, or undefined at the end, and all that is staged so far. */
export interface StagedReplacements {
  readonly resumePosition: number | undefined
  readonly staged: StagedHistory
}

/** What an engine does for a load. What it writes stays unseen until `finish` moves the head. */
export interface LoadSteps {
  /** Gives each key the next position, in the order of the calls. Answers with the indexes of those that are taken. */
  claimKeys(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]>
  putReams(reams: readonly SealedReam[]): Promise<void>
  putTail(from: number, raw: Uint8Array): Promise<void>
  /** Prepares some of what replacements change, and their history behind what is `staged` of it. */
  stageReplacements(from: number, staged: StagedHistory): Promise<StagedReplacements>
  finish(counts: Omit<LoadCounts, 'steps'>): Promise<Head>
  abandon(): Promise<void>
  renew(): Promise<void>
  /** Removes what is left over. */
  sweep(): Promise<void>
}

/** Well within a lease's lifetime, for loads that wait for their input. */
const RENEWAL_MS = 2_000

/** Before they were deflated. More at once would save nothing, and keep other writers waiting. */
const BYTES_A_PUT = 1024 * 1024

interface FullReam extends RawItems {
  /** Whether it is a whole run, and nobody wants it back. */
  readonly isTransferred: boolean
}

export class ReamLoad implements Load {
  readonly #steps: LoadSteps
  readonly #plan: LoadPlan
  readonly #renewal: NodeJS.Timeout
  readonly #collector: ItemCollector
  readonly #pool = new DeflatePool()
  /** The items of a ream that was begun before this load go to the tail, beside the ones already there. */
  #isCompleting: boolean
  #nextReam: number
  #appended = 0
  #replaced = 0
  #skipped = 0
  /** Resolves when the runs handed over so far have been put into reams, in order. */
  #inOrder: Promise<unknown> = Promise.resolve()
  /** Reams that are to be written together, and when they are: soon, and most recently. */
  readonly #ready: SealedReam[] = []
  #readyBytes = 0
  #nextPut = Promise.withResolvers<void>()
  #lastPut: Promise<void> = Promise.resolve()
  #isEnded = false
  readonly #writing = new Set<Promise<unknown>>()
  /** The first thing that went wrong: from then on nothing is taken, least of all a commit. */
  #failure: { readonly error: unknown } | undefined

  constructor(plan: LoadPlan, steps: LoadSteps) {
    this.#steps = steps
    this.#plan = plan
    const begun = plan.base % REAM_SIZE
    this.#collector = new ItemCollector(REAM_SIZE, REAM_SIZE - begun)
    this.#isCompleting = begun > 0
    this.#nextReam = Math.floor(plan.base / REAM_SIZE)
    // A lost lease shows in the next step, which also tells the caller.
    this.#renewal = setInterval(() => void steps.renew().catch(() => {}), RENEWAL_MS).unref()
  }

  get settings(): CollectionSettings {
    return this.#plan.settings
  }

  append(run: ItemRun): Promise<readonly number[]> {
    if (this.#isEnded) return Promise.reject(new StoreError('closed', 'The load has ended and accepts no more items.'))
    const claimed = this.#claim(run)
    claimed.catch(() => {})
    // What is wrong with this run is told after the ones before it were taken, lest they be blamed.
    const taken = this.#inOrder.then(async () => this.#take(run, await claimed))
    this.#inOrder = taken.catch(() => {})
    const written = taken.then(async (puts) => {
      await Promise.all(puts)
      return claimed
    })
    this.#writing.add(written)
    written.then(
      () => this.#writing.delete(written),
      (error: unknown) => {
        this.#failure ??= { error }
      },
    )
    return written
  }

  /** Which items of the run are not to be appended, because their keys are there already. */
  async #claim(run: ItemRun): Promise<readonly number[]> {
    if (this.settings.keyField === null) return []
    const keys = requireKeys({ ...this.settings, name: this.#plan.name }, run)
    return this.#steps.claimKeys(keys, this.#plan.onConflict === 'replace' ? run.text : undefined)
  }

  /** Puts a run behind the ones before it, and begins to write every ream that it completes. */
  #take(run: ItemRun, refused: readonly number[]): Promise<void>[] {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#plan.onConflict === 'replace') this.#replaced += refused.length
    else this.#skipped += refused.length
    const count = run.count - refused.length
    checkFits({ ...this.settings, name: this.#plan.name, live: this.#plan.live + this.#appended }, count)
    const text = refused.length === 0 ? run.text : editItems(run.text, new Map(refused.map((index) => [index, null])))
    const puts: Promise<void>[] = []
    for (const full of this.#collector.add(text, count))
      puts.push(this.#put({ ...full, isTransferred: run.isTransferred === true && full.raw === run.text }))
    this.#appended += count
    return puts
  }

  async #put(full: FullReam): Promise<void> {
    const number = this.#nextReam++
    if (this.#isCompleting) {
      this.#isCompleting = false
      await this.#steps.putTail(this.#plan.base, full.raw)
    } else {
      const { ream, release } = await this.#encode(full)
      if (full.isTransferred) free(own(full.raw))
      await this.#putReam({ ...ream, number, gone: null }).finally(release)
    }
  }

  async #encode({ raw, count }: RawItems): Promise<PooledReam> {
    try {
      return await this.#pool.encode(raw, count)
    } catch (error) {
      // Others may have waited for this one.
      this.#putReady()
      throw error
    }
  }

  /** A ream waits for others, as long as there are some being made: those that wait for memory wait for this one. */
  #putReam(ream: SealedReam): Promise<void> {
    this.#ready.push(ream)
    this.#readyBytes += ream.rawLength
    const written = this.#nextPut.promise
    if (!this.#pool.isDeflating || this.#readyBytes >= BYTES_A_PUT) this.#putReady()
    return written
  }

  /** Hands over all that is ready, after what was handed over before. */
  #putReady(): void {
    if (this.#ready.length === 0) return
    const reams = this.#ready.splice(0)
    this.#readyBytes = 0
    const put = this.#nextPut
    this.#nextPut = Promise.withResolvers()
    this.#lastPut = this.#lastPut.then(() => this.#steps.putReams(reams))
    this.#lastPut.then(put.resolve, put.reject)
  }

  async commit(origin: Origin | null = null): Promise<LoadResult> {
    this.#isEnded = true
    await Promise.allSettled(this.#writing)
    if (this.#failure !== undefined) throw this.#failure.error
    await this.#putRest(this.#collector.rest())
    const [appended, replaced] = [this.#appended, this.#replaced]
    const staged = await this.#stageReplacements()
    const head = await this.#steps.finish({ appended, replaced, staged, origin })
    await this.#end()
    return { head, appended, replaced, skipped: this.#skipped }
  }

  /** What makes no whole ream: as many quires as there are, and the tail. Behind a ream that was begun before, all of it goes to the tail. */
  async #putRest({ raw, count }: RawItems): Promise<void> {
    const inQuires = this.#isCompleting ? 0 : tailStart({ next: count })
    const quires = cutItems(raw, 0, inQuires)
    if (inQuires > 0) await this.#put({ raw: quires, count: inQuires, isTransferred: false })
    const from = this.#plan.base + this.#appended - (count - inQuires)
    if (inQuires < count) await this.#steps.putTail(from, cutItems(raw, inQuires, count))
  }

  async #stageReplacements(): Promise<StagedHistory> {
    let step: StagedReplacements = {
      resumePosition: this.#replaced > 0 ? 0 : undefined,
      staged: { changes: 0, bytes: 0 },
    }
    while (step.resumePosition !== undefined)
      step = await this.#steps.stageReplacements(step.resumePosition, step.staged)
    return step.staged
  }

  async abort(): Promise<void> {
    this.#isEnded = true
    await Promise.allSettled(this.#writing)
    try {
      await this.#steps.abandon()
    } finally {
      // Also where the store cannot be reached: a lease that is still renewed would keep others out for ever.
      await this.#end()
    }
  }

  /** The outcome stands already: what cannot be removed now is left to the next writer, and is no failure of this load. */
  async #end(): Promise<void> {
    clearInterval(this.#renewal)
    await this.#pool.close()
    await this.#steps.sweep().catch(() => {})
  }
}
