/** Keeps a collection true to a table: loads it, then takes over what changed, one moment of the table after the other. */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatKeyFields, keyFieldNames } from '../contract/key.ts'
import { counted } from '../contract/message-text.ts'
import { InputError } from '../items/input-error.ts'
import { ItemError, type ItemRun, itemRun, type OwnRun } from '../items/item-run.ts'
import { oneByOne } from '../items/owned-bytes.ts'
import { readUnpacked } from '../items/read-items.ts'
import { isConnectionLost, isConnectTimeout, stateOf as sqlState } from '../postgres/postgres-error.ts'
import { NOTE_MS, RECENT_MS } from '../store/following.ts'
import { ReadAhead, runMaker } from '../store/read-ahead.ts'
import type { CollectionState, Head, Load, Patched, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { TableError } from '../tables/table.ts'
import { BucketSums, differingKeys, hashesIn } from './compare.ts'
import {
  FollowEnded,
  type FollowedShape,
  FollowedTable,
  type FoundRow,
  InvalidEntry,
  type Moment,
  QueueGone,
  type TableOptions,
} from './followed-table.ts'
import { missingTriggers, type Shape } from './shape.ts'

/** Changes that one commit takes, also as a share of all rows: for more, all rows are read anew. */
const MAX_KEYS = 50_000
/** While a large table is read, many of its rows may change: that must not lead to the next load. */
const MAX_SHARE = 1 / 20
/** More differing buckets than this, and all rows are read anew. */
const MAX_BUCKETS = 1_000

const DEFAULT_RETRY_MS = 1_000

const MANY = 1_000

/** What there is to tell. */
export type FollowEvent =
  | { readonly kind: 'claimed-by-other' | 'table-locked' }
  | { readonly kind: 'others-idle'; readonly count: number }
  | { readonly kind: 'loading'; readonly items: number; readonly estimate: number | undefined }
  | { readonly kind: 'loaded'; readonly reason: string; readonly items: number; readonly durationMs: number }
  | ({ readonly kind: 'followed'; readonly durationMs: number } & Counts)
  | ({
      readonly kind: 'compared'
      readonly reason: string
      readonly items: number
      readonly durationMs: number
    } & Counts)
  | { readonly kind: 'look'; readonly waiting: number; readonly at: number }
  /** The collection has caught up with the table for the first time. */
  | { readonly kind: 'current' }
  | { readonly kind: 'retry'; readonly error: unknown }

type Counts = Omit<Patched, 'head'>

export interface FollowOptions extends Omit<TableOptions, 'signal'> {
  readonly everyMs: number
  /** Between two tries while the database is away; 1 s by default. */
  readonly retryMs?: number
  /** How often all rows are compared. */
  readonly compareMs: number
  /** Compare them at once, too. */
  readonly isToCompare: boolean
  /** Whether a collection that does not follow the table yet may lose its items. */
  readonly mayReplace: boolean
  readonly itemBytes: number
  /** Asked before anything is installed; throws if that is not wanted. */
  readonly approve: (statements: readonly string[]) => Promise<void>
  readonly onEvent: (event: FollowEvent) => void
}

export class Follower {
  readonly #store: Store
  readonly #options: FollowOptions
  readonly #signal: AbortSignal
  #table: FollowedTable
  /** Set where all rows are to be compared, whatever the queue says. */
  #compareReason: string | undefined
  /** Whether this round looked at all rows. */
  #isCompared = false
  /** The moment that the collection shows; 0 while that is not known. */
  #asOf = 0
  /** When it was last noted in the store how far the collection is. */
  #notedAt = Number.NEGATIVE_INFINITY
  /** What was last noted had this time; 0 before. */
  #seenAt = 0
  /** The follower that this process has been. */
  #followerId: string | undefined
  /** Until then, what goes wrong with the database is for the user to mend. */
  #hasStarted = false

  constructor(store: Store, table: FollowedTable, options: FollowOptions, signal: AbortSignal) {
    this.#store = store
    this.#table = table
    this.#options = options
    this.#signal = signal
    if (options.isToCompare) this.#compareReason = 'as asked for'
  }

  /** Ends with an error only: what passes by itself is tried again. */
  async run(): Promise<never> {
    for (;;) {
      try {
        await this.#start()
        this.#hasStarted = true
        this.#followerId = this.#table.id
        const count = await this.#table.followers.countIdle(this.#table.id)
        if (count > 0) this.#tell({ kind: 'others-idle', count })
        for (;;) {
          await this.#round()
          await sleep(this.#options.everyMs, undefined, { signal: this.#signal })
        }
      } catch (error) {
        await this.#recover(error)
      }
    }
  }

  /** Goes on where this collection was left, or begins. */
  async #start(): Promise<void> {
    const table = this.#table
    const head = await this.#store.head(this.#options.collection)
    const known = head && (await table.followers.find(head.id))
    if (head === undefined || known === undefined) {
      // Somebody may have run reams unfollow while there was no connection: that must not be undone.
      if (this.#followerId !== undefined && !(await table.followers.has(this.#followerId))) throw table.unfollowed()
      return this.#begin(head)
    }
    this.#refuseOtherKey(head)
    table.id = known
    await table.followers.claim(table.id, () => this.#tell({ kind: 'claimed-by-other' }))
    await table.repairRecorder(() => this.#tell({ kind: 'table-locked' }))
  }

  /** The first load. Its lease keeps others away from the collection while the table is prepared. */
  async #begin(head: Head | undefined): Promise<void> {
    const table = this.#table
    await this.#refuseOther()
    const load = await this.#lease(head)
    try {
      const { id: adopted, isBusy } = await table.followers.adopt()
      // It may be this collection that the other one has just loaded, or is known for by now. Where there is none, it cannot be.
      if (
        head !== undefined &&
        (isBusy || (adopted === undefined && (await table.followers.find(head.id)) !== undefined))
      )
        throw new StoreError('busy', `Another process is about to follow ${table.label} for "${head.name}".`)
      if (adopted === undefined && head !== undefined && head.live > 0 && !this.#options.mayReplace)
        throw this.#taken(head)
      table.id = adopted ?? newId()
      await table.followers.claim(table.id, () => this.#tell({ kind: 'claimed-by-other' }))
      const statements = await table.missingStatements()
      if (statements.length > 0) {
        await this.#options.approve(statements)
        await table.install(
          async () => statements,
          () => this.#tell({ kind: 'table-locked' }),
        )
      }
      const { shape, at } = await table.begin()
      const state = await this.#fill(load, 'for the first time')
      // At once: from now on there is a collection that another process could begin to follow.
      await this.#note(0, at)
      await table.finish(state, shape, true)
    } catch (error) {
      await load.abort().catch(() => {})
      throw error
    }
  }

  /** Two that follow different tables would undo one another's work for ever. */
  async #refuseOther(): Promise<void> {
    const { collection } = this.#options
    const other = (await this.#store.followings()).find(({ name }) => name === collection)
    // A time in the future is one by a clock that was set back since.
    if (other === undefined || Math.abs(Date.now() - other.seenAt) > RECENT_MS) return
    if (withoutParameters(other.source) === withoutParameters(this.#table.label)) return
    throw new TableError(
      'usage',
      `The collection "${collection}" follows ${other.source} at the moment. Choose another name with --name, or stop that one first.`,
    )
  }

  /** The queue has the values of the columns that were the key when it was made: they would be taken for those of others. */
  #refuseOtherKey({ name, keyField }: Head): void {
    const wanted = formatKeyFields(this.#table.keyNames)
    if (keyField === wanted) return
    throw new TableError(
      'usage',
      `The collection "${name}" follows ${this.#table.label} by the key ${keyField}, not ${wanted}. Go on with --key ${keyField}; or reams unfollow, then follow the table anew, under another name.`,
    )
  }

  #taken({ name, live }: Head): TableError {
    return new TableError(
      'usage',
      `The collection "${name}" exists and does not follow ${this.#table.label}. Choose another name with --name, or let --replace replace its ${counted(live, 'item')}.`,
    )
  }

  /** Rethrows what will not pass; else connects anew. */
  async #recover(error: unknown): Promise<void> {
    // There was a connection, so a server that goes down while others are waited for, or all rows are read, will come back.
    this.#hasStarted ||= isCut(error)
    for (let failure = this.#explained(error); ; ) {
      this.#table.hangUp()
      this.#signal.throwIfAborted()
      if (!isPassing(failure) || (failure instanceof TableError && !this.#hasStarted)) {
        // There may be no collection yet; and whatever else goes wrong here, the failure is what there is to tell.
        if (failure instanceof FollowEnded)
          await this.#store.noteFollowing(this.#options.collection, null).catch(() => {})
        throw failure
      }
      this.#tell({ kind: 'retry', error: failure })
      await sleep(this.#options.retryMs ?? DEFAULT_RETRY_MS, undefined, { signal: this.#signal })
      try {
        this.#table = await FollowedTable.open({ ...this.#options, signal: this.#signal })
        return
      } catch (another) {
        failure = another
      }
    }
  }

  #explained(error: unknown): unknown {
    const reason = error instanceof InputError || error instanceof ItemError ? error.message : undefined
    if (reason !== undefined)
      return new TableError('data', `${this.#table.label}: ${reason}. The collection stays as it is.`, { cause: error })
    return isOfDatabase(error) ? this.#table.explain(error) : error
  }

  /** One look at the table, and one commit at most. */
  async #round(): Promise<void> {
    const table = this.#table
    const moment = await this.#beginRound()
    if (moment === undefined) return
    this.#isCompared = false
    this.#tell({ kind: 'look', waiting: moment.waiting, at: moment.at })
    // A while may pass until they are taken over.
    if (moment.waiting > MANY && this.#asOf > 0) await this.#note(moment.waiting)
    if (await this.#repaired(moment)) return
    const head = await this.#store.head(this.#options.collection)
    const reason = this.#reasonToLoad(moment, head)
    const state = reason === undefined && head !== undefined ? await this.#takeOver(moment, head) : undefined
    if (state === null) {
      await table.leave()
      if (this.#compareReason !== undefined) return
    } else {
      const why = reason ?? this.#compareReason ?? 'there were more changes than one commit takes'
      await table.finish(state ?? (await this.#load(head, why)), settledShape(moment), this.#isCompared)
    }
    // A role that does not own the table could not even lock it to find that there is nothing to do.
    if (hasLostMembers(moment) && (await table.missingStatements()).length > 0)
      await table.install(
        () => table.missingStatements(),
        () => {},
      )
    const isFirst = this.#asOf === 0
    this.#asOf = moment.at
    await this.#note(0)
    if (isFirst) this.#tell({ kind: 'current' })
  }

  /** Undefined where the queue had to be made anew. */
  async #beginRound(): Promise<Moment | undefined> {
    try {
      return await this.#table.begin()
    } catch (error) {
      if (!(error instanceof QueueGone)) throw error
      await this.#table.reset(() => this.#tell({ kind: 'table-locked' }))
      return undefined
    }
  }

  /** Puts right what somebody did to the triggers or the queue, or a queue that was full. The next round then compares. */
  async #repaired({ shape, isRecorderSound, isLost }: Moment): Promise<boolean> {
    const table = this.#table
    const isIncomplete = missingTriggers(shape, table.names).size > 0
    if (!isIncomplete && !isLost && isRecorderSound) return false
    await table.leave()
    const onWait = () => this.#tell({ kind: 'table-locked' })
    if (!isRecorderSound) await table.repairRecorder(onWait)
    if (isIncomplete) await table.install(() => table.missingStatements(), onWait)
    if (isLost) await table.reset(onWait)
    return true
  }

  #reasonToLoad({ state, shape, before, isEmptied }: Moment, head: Head | undefined): string | undefined {
    if (head === undefined || state === null) return 'for the first time'
    if (isEmptied) return 'it was truncated'
    if (before !== undefined && columnsOf(shape) !== columnsOf(before)) return 'its columns have changed'
    return undefined
  }

  #reasonToCompare(moment: Moment, head: Head): string | undefined {
    const { state, shape, before, comparedMs } = moment
    if (this.#compareReason !== undefined) return this.#compareReason
    if (state?.endsWith('.')) return 'its queue could not take all changes'
    if (state !== stateOf(head)) return 'the collection is not as it was left'
    if (shape.recorder !== before?.recorder) return 'its queue, or what belongs to it, has changed'
    if (before.unsettledBefore !== undefined && settledShape(moment).unsettledBefore === undefined)
      return 'transactions have ended that may not have been recorded'
    const { unsettledBefore: _, ...rest } = before
    if (JSON.stringify(shape) !== JSON.stringify(rest)) return 'its triggers, files or partitions have changed'
    return comparedMs > this.#options.compareMs ? 'as it is time' : undefined
  }

  /**
   * Returns the new state of the collection; null if nothing has changed or the next round has to compare, undefined if all
   * rows are to be loaded.
   */
  async #takeOver(moment: Moment, head: Head): Promise<string | null | undefined> {
    const reason = this.#reasonToCompare(moment, head)
    if (reason !== undefined) return this.#compare(head, reason)
    if (moment.waiting === 0) return null
    try {
      const most = Math.max(MAX_KEYS, Math.floor(head.live * MAX_SHARE))
      const keys = await this.#table.queuedKeys(most + 1)
      if (keys.length > most) return undefined
      const startedAt = performance.now()
      // To look whether an item is the same takes a third of the time that replacing it does: few are, of many.
      const patched = await this.#apply(head, this.#table.findQueued(keys), [], keys.length <= MANY)
      this.#tell({ kind: 'followed', ...countsOf(patched), durationMs: performance.now() - startedAt })
      return stateOf(patched.head)
    } catch (error) {
      if (!(error instanceof InvalidEntry)) throw error
      this.#compareReason = `its queue had an entry that is not a key (${error.message})`
      return null
    }
  }

  /** One commit, and only if nobody else has changed the collection. */
  async #apply(
    head: Head,
    found: AsyncIterable<FoundRow>,
    gone: readonly string[],
    skipSame: boolean,
  ): Promise<Patched> {
    const rows: string[] = []
    const looked = new Set(gone)
    for await (const { key, row } of found) {
      looked.add(key)
      if (row !== null) rows.push(row)
    }
    const { keyField } = head
    const all = itemRun(rows, { keyField, itemBytes: this.#options.itemBytes })
    const puts = withoutDoubles(all, rows, { keyField, itemBytes: this.#options.itemBytes })
    const present = new Set(puts.keys)
    const deletes = [...looked].filter((key) => !present.has(key))
    const steps = [...deletes, ...Array.from({ length: puts.count }, () => null)]
    return this.#store.patch(
      this.#options.collection,
      { puts, steps },
      { skipMissing: true, skipSame, state: collectionState(head) },
    )
  }

  /** All rows, as one swap. */
  async #load(head: Head | undefined, reason: string): Promise<string> {
    const load = await this.#lease(head)
    try {
      return await this.#fill(load, reason)
    } catch (error) {
      await load.abort().catch(() => {})
      throw error
    }
  }

  #lease(head: Head | undefined): Promise<Load> {
    return this.#store.load(this.#options.collection, {
      settings: { keyField: formatKeyFields(this.#table.keyNames) },
      isReplacement: head !== undefined,
      state: head === undefined ? null : collectionState(head),
    })
  }

  async #fill(load: Load, reason: string): Promise<string> {
    const startedAt = performance.now()
    const estimate = await this.#table.estimate()
    const ahead = new ReadAhead()
    let items = 0
    try {
      for await (const run of this.#rows(load.settings.keyField ?? '')) {
        await ahead.add(load.append({ ...run, isTransferred: true }), run.text.length)
        items += run.count
        this.#tell({ kind: 'loading', items, estimate })
      }
    } finally {
      await ahead.end()
    }
    this.#signal.throwIfAborted()
    const { head } = await load.commit()
    this.#isCompared = true
    this.#compareReason = undefined
    this.#tell({ kind: 'loaded', reason, items, durationMs: performance.now() - startedAt })
    return stateOf(head)
  }

  async *#rows(keyField: string): AsyncGenerator<OwnRun> {
    const chunks = oneByOne(this.#table.rows())
    const options = { format: 'ndjson', keyField, itemBytes: this.#options.itemBytes } as const
    for await (const { run } of readUnpacked(chunks, options)) {
      this.#signal.throwIfAborted()
      yield run
    }
  }

  /** Looks at all rows, and mends what differs. Answers as `#takeOver`. */
  async #compare(head: Head, reason: string): Promise<string | undefined> {
    const startedAt = performance.now()
    const keyField = head.keyField ?? ''
    this.#compareReason = reason
    const inTable = await BucketSums.of(this.#rows(keyField))
    const inCollection = await BucketSums.of(this.#items(keyField))
    const buckets = inTable.differing(inCollection)
    if (buckets.size > MAX_BUCKETS) return undefined
    let patched: Patched = { head, appended: 0, replaced: 0, deleted: 0 }
    if (buckets.size > 0) {
      const rows = await hashesIn(buckets, this.#rows(keyField))
      const differing = differingKeys(rows, await hashesIn(buckets, this.#items(keyField)))
      const keys = differing.filter((key) => rows.has(key)).map((key) => JSON.stringify(partsOf(key, this.#table)))
      patched = await this.#apply(
        head,
        this.#table.find(keys),
        differing.filter((key) => !rows.has(key)),
        false,
      )
    }
    this.#isCompared = true
    this.#compareReason = undefined
    const durationMs = performance.now() - startedAt
    this.#tell({ kind: 'compared', reason, items: inTable.items, ...countsOf(patched), durationMs })
    return stateOf(patched.head)
  }

  async *#items(keyField: string): AsyncGenerator<ItemRun> {
    const makeRun = runMaker(keyField)
    for await (const segment of this.#store.items(this.#options.collection)) {
      this.#signal.throwIfAborted()
      yield makeRun([segment])
    }
  }

  /** For `reams collections` and metrics. */
  async #note(waiting: number, asOf = this.#asOf): Promise<void> {
    if (performance.now() - this.#notedAt < NOTE_MS) return
    this.#notedAt = performance.now()
    await this.#refuseRival()
    this.#seenAt = Date.now()
    const following = { source: this.#table.label, waiting, asOf, seenAt: this.#seenAt }
    await this.#store.noteFollowing(this.#options.collection, following)
  }

  /** One that follows the same table in a copy of its database, say: each would undo what the other does. */
  async #refuseRival(): Promise<void> {
    const { collection } = this.#options
    const other = (await this.#store.followings()).find(({ name }) => name === collection)
    if (this.#seenAt === 0 || other === undefined || other.seenAt <= this.#seenAt) return
    if (withoutParameters(other.source) === withoutParameters(this.#table.label)) return
    throw new TableError(
      'usage',
      `The collection "${collection}" follows ${other.source} as well, by another process. Stop one of the two; this one ends.`,
    )
  }

  #tell(event: FollowEvent): void {
    this.#options.onEvent(event)
  }
}

/** Two keys of the queue may lead to one row, where the database takes them for the same. */
function withoutDoubles(
  run: ItemRun,
  rows: readonly string[],
  options: { keyField: string | null; itemBytes: number },
) {
  const { keys = [] } = run
  const places = new Map(keys.map((key, index) => [key, index]))
  if (places.size === keys.length) return run
  return itemRun(
    rows.filter((_, index) => places.get(keys[index] ?? '') === index),
    options,
  )
}

/** Random, and a part of names in SQL. */
function newId(): string {
  return randomBytes(4).toString('hex')
}

function partsOf(key: string, { keyColumns }: FollowedTable): string[] {
  return keyColumns.length === 1 ? [key] : keyFieldNames(key)
}

function countsOf({ appended, replaced, deleted }: Patched): Counts {
  return { appended, replaced, deleted }
}

/** Whether a partition was detached, or a child. */
function hasLostMembers({ shape, before }: Moment): boolean {
  const present = new Set(shape.members.map(({ oid }) => oid))
  return before?.members.some(({ oid }) => !present.has(oid)) ?? false
}

function columnsOf({ columns }: Shape): string {
  return JSON.stringify(columns.map(({ name, type, number }) => [name, type, number]))
}

/**
 * The shape to compare with in later rounds. After a change to the recorder, a transaction that is still open may have written
 * rows that were not recorded: they show only when it has ended.
 */
function settledShape({ shape, before, transactions: { oldest, next } }: Moment): FollowedShape {
  const limit = shape.recorder === before?.recorder ? before.unsettledBefore : String(next)
  return limit === undefined || BigInt(limit) <= oldest ? shape : { ...shape, unsettledBefore: limit }
}

function collectionState({ id, commitId }: Head): CollectionState {
  return { id, commitId }
}

/** A state of the collection as one text. */
function stateOf({ id, commitId }: Head): string {
  return `${id}.${commitId}`
}

/** A source by its name: the parameters of its URL say how it is reached. */
function withoutParameters(source: string): string {
  return source.replace(/\?.*$/, '')
}

/** Whether PostgreSQL, or the connection to it, is the reason. */
function isOfDatabase(error: unknown): boolean {
  return sqlState(error) !== undefined || isConnectionLost(error) || isConnectTimeout(error)
}

/** Whether the connection was lost. */
function isCut(error: unknown): boolean {
  return isConnectionLost(error) || (error instanceof TableError && isConnectionLost(error.cause))
}

const PASSING: readonly StoreError['code'][] = [
  'unavailable',
  'overloaded',
  'outcome-unknown',
  'full',
  'busy',
  'lease-lost',
  'precondition-failed',
  'collection-exists',
  'no-collection',
]

/** Whether it may work another time. */
function isPassing(error: unknown): boolean {
  if (error instanceof StoreError) return error.code !== 'key-conflict' && PASSING.includes(error.code)
  return error instanceof TableError && error.kind === 'surroundings'
}
