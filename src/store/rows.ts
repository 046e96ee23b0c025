/**
 * The seam between the algorithms of the store and an engine: rows of a few tables. An algorithm is a generator that yields queries. So it
 * is written once, whether the engine answers at once or later.
 */

import type { RawItems } from './item-text.ts'
import type { HoleCount } from './positions.ts'
import type { ReamBytes, SealedReam } from './ream.ts'
import type { StoredReam } from './ream-draft.ts'
import type { Head } from './store.ts'
import type { LooseTable, Owner, Owners, Place, Row, StoredHead, Table } from './tables.ts'

export type Answer<T> = T | Promise<T>

export type Query<T = unknown> = (rows: Rows) => Answer<T>

/** Steps of an algorithm. It returns a T. */
export type Steps<T> = Generator<Query, T, unknown>

export function* query<T>(ask: Query<T>): Steps<T> {
  // Each driver below resumes the generator with what the query returned.
  return (yield ask) as T
}

/** Queries that do not depend on each other, sent together. */
export function queryAll<Q extends readonly Query[]>(
  ...queries: Q
): Steps<{ -readonly [I in keyof Q]: Awaited<ReturnType<Q[I]>> }> {
  return query((rows) => {
    const answers = queries.map((ask) => ask(rows))
    // The cast: one answer a query, in their order.
    const all = answers.some((answer) => answer instanceof Promise) ? Promise.all(answers) : answers
    return all as { -readonly [I in keyof Q]: Awaited<ReturnType<Q[I]>> }
  })
}

/** A query whose answer is waited for later, with the result. An engine that answers at once has it already. */
export function* queryAhead<T>(ask: Query<T>): Steps<Answer<T>> {
  const asked = yield* query((rows) => {
    const answer = ask(rows)
    // Nobody may ever wait for it.
    if (answer instanceof Promise) answer.catch(() => {})
    return { answer }
  })
  return asked.answer
}

/** For an engine that answers at once. */
export function runSync<T>(steps: Steps<T>, rows: Rows): T {
  let step = steps.next()
  while (!step.done) step = steps.next(step.value(rows))
  return step.value
}

/** Waits only for what is a promise: an engine that answers at once is not slowed down. */
export async function runAsync<T>(steps: Steps<T>, rows: Rows): Promise<T> {
  let step = steps.next()
  while (!step.done) {
    const answer = step.value(rows)
    step = steps.next(answer instanceof Promise ? await answer : answer)
  }
  return step.value
}

/** Rows of one owner, in the order of their key. */
export interface Range {
  /** The first columns of the key have these values. */
  readonly at?: Row
  /** The columns after those: from these values on, and before those. */
  readonly from?: Row
  readonly to?: Row
  readonly limit?: number
  readonly isReverse?: boolean
}

/** What an item was before it was changed. */
export interface PastItem {
  readonly position: number
  readonly text: string
  /** The number of its last change, if asked for. */
  readonly last?: number
}

/** The numbers of changes from `from` on and before `to`. */
export interface Numbers {
  readonly from: number
  readonly to: number
}

/**
 * What an engine does, in one snapshot or in one transaction. Values and rows are those of the table's columns, without the owner. A
 * write need not be awaited: the commit fails if it did.
 */
export interface BasicRows {
  /** With `isProven` an engine whose disk may lie proves that the row is missing. */
  get<O extends Owner>(table: Table<O>, owner: Owners[O], key: Row, isProven?: boolean): Answer<Row | undefined>
  /** A row, or undefined, for each of the keys. */
  find<O extends Owner>(
    table: Table<O>,
    owner: Owners[O],
    keys: readonly Row[],
    isProven?: boolean,
  ): Answer<readonly (Row | undefined)[]>
  scan<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Answer<readonly Row[]>
  /** Inserts rows, or replaces those with the same keys. Bytes of type 'deflated' are the engine's then, which may free them. */
  put<O extends Owner>(table: Table<O>, owner: Owners[O], rows: readonly Row[]): Answer<void>
  remove<O extends Owner>(table: Table<O>, owner: Owners[O], keys: readonly Row[]): Answer<void>
  /** Returns how many rows it removed if there is a limit. */
  removeRange<O extends Owner>(table: Table<O>, owner: Owners[O], range: Range): Answer<number>
  /** All rows, in any order. */
  all(table: LooseTable): Answer<readonly Row[]>
  /** Reports a damaged row. Throws by default; `verify` collects instead. */
  reportDamage(collection: string | undefined, message: string): void
}

/** Operations of hot paths that an engine may do in one statement. `default-operations.ts` builds them from the basic ones. */
export interface Operations {
  /** The original text of every item that changed at the positions `start` to `end`, or at these. */
  pastIn(
    owner: History,
    generation: number,
    start: number,
    end: number,
    numbers: Numbers,
    wantsLast?: boolean,
  ): Answer<readonly PastItem[]>
  pastAt(
    owner: History,
    generation: number,
    positions: readonly number[],
    numbers: Numbers,
  ): Answer<readonly PastItem[]>
  /** The last change of an item at the positions `start` to `end`. */
  lastChangeIn(
    owner: History,
    generation: number,
    start: number,
    end: number,
    numbers: Numbers,
  ): Answer<number | undefined>
  /** The hole counts that blocks had before a change, of those in which something was deleted since. */
  pastHoles(
    owner: History,
    generation: number,
    level: number,
    blocks: readonly number[],
    number: number,
  ): Answer<readonly HoleCount[]>
  /** Rows of CHANGE: the one that contains change `from`, or begins before it, and those after it. */
  changes(owner: History, numbers: Numbers, limit: number): Answer<readonly Row[]>
  /** The changes with these numbers, without their texts. */
  changeSizes(owner: History, numbers: Numbers, limit: number): Answer<readonly ChangeSize[]>
  /** Adds to hole counts. */
  addHoles(place: Owners['generation'], counts: readonly HoleCount[]): Answer<void>
}

export type History = Owners['collection']
export type Generation = Owners['generation']

/** A stored change without its text. */
export interface ChangeSize {
  readonly number: number
  readonly generation: number
  /** See CHANGE_KINDS. */
  readonly kind: number
  readonly position: number
  /** Of the text. */
  readonly bytes: number
}

/** Heads. A write locks the head first: until the transaction ends nobody else writes to the collection. */
export interface HeadRows {
  lockHead(name: string): Answer<StoredHead | undefined>
  readHead(name: string, isPublicOnly?: boolean): Answer<StoredHead | undefined>
  /** Until the transaction ends nobody can drop the collection; others may write to it. */
  holdHead(name: string): Answer<Owners['shard'] | undefined>
  /** A head as it will be stored; `before` is the one that is. */
  storedHead(head: Head, before: StoredHead | undefined): StoredHead
  putHead(head: StoredHead, before: StoredHead | undefined): Answer<void>
  removeHead(head: StoredHead): Answer<void>
  /** Where a load writes: into the generation of the head or, for a replacement, into a new one; and where it stages items. */
  newPlace(name: string, id: number, head: StoredHead | undefined, isReplacement: boolean): Place & Staging
}

/** Where a load keeps items that will replace others. */
export interface Staging {
  readonly stagingId: number
}

/** Reads of hot paths. With `isPublicOnly` a private collection is treated as missing, in the same time (no timing oracle). */
export interface ReadRows {
  /** A head, and parts of its collection, from one snapshot. */
  readParts(name: string, wanted: WantedParts, isPublicOnly: boolean): Answer<FoundParts | undefined>
  /** The same where a snapshot was taken already. */
  readPartsOf(head: StoredHead, wanted: WantedParts): Answer<FoundParts>
  /** The head of a collection as it is now, and hole counts of the same snapshot. */
  readHoleBlocks(
    head: StoredHead,
    range: BlockRange,
  ): Answer<{ readonly head: StoredHead; readonly counts: readonly HoleCount[] } | undefined>
  /** A head, and where a key leads. */
  findItem(
    name: string,
    key: string,
    isPublicOnly: boolean,
  ): Answer<{ readonly head: StoredHead; readonly found: FoundItem | undefined } | undefined>
}

/** What a page has of a collection: reams by number, and the tail. */
export interface WantedParts {
  readonly reams: readonly number[]
  readonly hasTail: boolean
}

/** The same as it was found, with the head that it belongs to. */
export interface FoundParts {
  readonly head: StoredHead
  readonly reams: ReadonlyMap<number, ReamBytes>
  readonly tail: RawItems | undefined
}

/** Where a key leads: an item of the tail, or a ream. */
export interface FoundItem {
  readonly position: number
  readonly item: string | Uint8Array | undefined
  readonly ream: SealedReam | undefined
}

/** The blocks `from` to `to` of a level of hole counts. */
export interface BlockRange {
  readonly level: number
  readonly from: number
  readonly to: number
}

/** What a load holds while it runs. */
export interface Lease extends Generation, Staging {
  readonly name: string
  /** It appends at positions from here on. */
  readonly base: number
  readonly holder: string
}

export interface FoundLease extends Lease {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly isDead: boolean
}

/** An engine judges by its own means whether the holder of a lease is alive. */
export interface LeaseRows {
  /** Returns false if the name has a lease. */
  takeLease(lease: Lease): Answer<boolean>
  findLease(name: string): Answer<FoundLease | undefined>
  findLeases(): Answer<readonly FoundLease[]>
  /** How many steps of the load are committed. Undefined if the lease is lost; nobody can take it until the transaction ends. */
  holdLease(lease: Lease): Answer<number | undefined>
  /** Also counts steps. */
  renewLease(lease: Lease, steps: number): Answer<void>
  /** Returns false if the lease is lost, or was renewed since it was found to be dead. */
  removeLease(lease: Lease | FoundLease): Answer<boolean>
}

/** Rows that nobody can see: of a generation from a position on, or of a history from a change on. */
export interface Leftover {
  readonly owner: Generation & History
  readonly isHistory: boolean
  readonly base: number
  /** Keys up to this one are removed. */
  readonly keyCursor: string
}

export interface LeftoverRows {
  /** Whether rows are left where a write to this collection would go. */
  isBlocked(head: StoredHead): Answer<boolean>
  addLeftover(place: Generation, base: number): Answer<void>
  addHistoryLeftover(owner: History, base: number): Answer<void>
  findLeftovers(): Answer<readonly Leftover[]>
  /** The next one at a shard key; of a history first: writes wait for it. */
  lockLeftover(shardKey: number): Answer<Leftover | undefined>
  moveCursor(leftover: Leftover, keyCursor: string): Answer<void>
  removeLeftover(leftover: Leftover): Answer<void>
  /** Whether a head shows something of a generation from a position on. */
  isVisible(place: Generation, base: number): Answer<boolean>
  /** How many changes the collection with this id has, if there is one. */
  findChanges(owner: History): Answer<number | undefined>
  /** The key that is `limit` keys after another one, or the last one. Undefined at the end. */
  findLastKey(place: Generation, after: string, limit: number): Answer<string | undefined>
  /** Removes the keys of such a range whose positions are not before `base`. */
  sweepKeys(place: Generation, after: string, last: string, base: number): Answer<void>
}

/** What a request wrote to: NO_COLLECTION for a drop. */
export interface RequestPlace {
  readonly key: string
  readonly collectionId: number
}

/** A request that may be sent again, and what was answered. */
export interface RememberedRequest extends RequestPlace {
  readonly digest: string
  readonly outcome: unknown
}

export interface RequestRows {
  /** Those of the last day. May also return others with the same keys. */
  findRequests(name: string, places: readonly RequestPlace[]): Answer<readonly RememberedRequest[]>
  /** Also forgets a few that are older. */
  putRequests(name: string, requests: readonly RememberedRequest[]): Answer<void>
}

/** Operations of writes. */
export interface WriteRows {
  /** The reams that a change needs. An engine that answers at once reads them when they are used: there can be thousands. */
  reamsToChange(place: Generation, numbers: readonly number[]): Answer<readonly (readonly [number, StoredReam])[]>
  /** All items of the tail, and the proof that none is missing. */
  wholeTail(head: StoredHead): Answer<readonly Row[]>
  /** Adds keys that were not found. */
  addKeys(place: Generation, keys: ReadonlyMap<string, number>): Answer<void>
  /** Adds keys with positions in a row. Fails with KeysTaken, or at the commit, if one exists. */
  insertKeys(lease: Lease, keys: readonly string[], first: number): Answer<void>
  /** Puts reams of a load. */
  loadReams(lease: Lease, reams: readonly SealedReam[]): Answer<void>
  /** Moves the reams that a load staged: there can be more than memory holds. */
  moveStagedReams(lease: Lease): Answer<void>
  /** About how many bytes a ream of this generation has. */
  reamBytes(place: Generation): Answer<number>
}

export interface Rows
  extends BasicRows,
    Operations,
    ReadRows,
    HeadRows,
    LeaseRows,
    LeftoverRows,
    RequestRows,
    WriteRows {}
