/** What a load does to the rows of a store. All of it stays unseen until the last step moves the head. */

import { randomUUID } from 'node:crypto'
import { keepsHistory } from '../contract/state-tag.ts'
import { checkName, NO_COLLECTION, newId } from './collection-rules.ts'
import type { DeflatePool } from './deflate-pool.ts'
import { bytesOf, type LoggedChange, numberChanges, UNKNOWN_VERSION } from './history.ts'
import { splitItems } from './item-text.ts'
import { findObstacle, Overtaken, stagingOf } from './leases.ts'
import {
  headAfterLoad,
  type LeasedPlan,
  type LoadCounts,
  type LoadedHead,
  lostLease,
  planLoad,
  type StagedHistory,
  type StagedReplacements,
} from './load.ts'
import { MAX_POSITION, QUIRE_SIZE, REAM_SIZE, reamsIn, tailStart } from './positions.ts'
import type { SealedReam, TailItem } from './ream.ts'
import { byReam, changedReam, ReamDraft } from './ream-draft.ts'
import { RequestLog } from './request-log.ts'
import { type Lease, query, queryAhead, queryAll, type Steps } from './rows.ts'
import type { Head, LoadOptions } from './store.ts'
import { StoreError } from './store-error.ts'
import {
  putChanges,
  putReplaced,
  readHistoryBytes,
  retireGeneration,
  writeHistory,
  writesHistory,
} from './stored-history.ts'
import { findReams, putReams, putTail, readTail, tailItems } from './stored-items.ts'
import { KEY, publicHead, type StoredHead, TAIL } from './tables.ts'

/** Pending replacements that one step takes, at most; a ream has at most 500 of them, so every step gets on. */
const REPLACEMENTS_A_STEP = 2_000

/** A load that has its lease. */
export interface RunningLoad extends LeasedPlan<Lease> {
  /** Of the collection, which may not exist yet. */
  readonly id: number
  /** Before the load. */
  readonly generation: number
}

export function* beginLoad(name: string, options: LoadOptions): Steps<RunningLoad> {
  checkName(name)
  const head = yield* query((rows) => rows.lockHead(name))
  const obstacle = yield* findObstacle(name, head)
  if (obstacle !== undefined) throw obstacle
  const plan = planLoad(name, head, options)
  const id = head?.id ?? newId()
  const place = yield* query((rows) => rows.newPlace(name, id, head, plan.isReplacement))
  const lease = { ...place, name, base: plan.base, holder: randomUUID() }
  if (!(yield* query((rows) => rows.takeLease(lease)))) throw new Overtaken()
  if (head !== undefined) yield* query((rows) => rows.putHead({ ...head, isGuarded: true }, head))
  // Somebody may have made the collection before the lease was there.
  else if ((yield* query((rows) => rows.lockHead(name))) !== undefined) throw new Overtaken()
  return { ...plan, lease, id, generation: head?.generation ?? 1 }
}

/** Runs steps of a load, and counts them as one step. If the lease is lost, nothing of them stays. */
export function* underLease<T>({ lease, name }: RunningLoad, steps: Steps<T>): Steps<T> {
  const held = yield* queryAhead((rows) => rows.holdLease(lease))
  if (held === undefined) throw lostLease(name)
  const result = yield* steps
  if ((yield* query(() => held)) === undefined) throw lostLease(name)
  // Last, because steps that run beside this one wait for the row.
  yield* query((rows) => rows.renewLease(lease, 1))
  return result
}

export function* putLoadedReams({ lease }: RunningLoad, reams: readonly SealedReam[]): Steps<void> {
  yield* query((rows) => rows.loadReams(lease, reams))
}

export function* putLoadedTail({ lease }: RunningLoad, from: number, raw: Uint8Array): Steps<void> {
  yield* putTail(lease, tailItems(from, raw))
}

/** By the index of an item whose key is taken, the position of the one that has it. */
export type TakenKeys = ReadonlyMap<number, number>

/** The keys that are new, in order, and those that are taken, if the first new one gets the position `next`. */
export function* findTakenKeys(
  { lease }: RunningLoad,
  keys: readonly string[],
  next: number,
): Steps<{ readonly fresh: readonly string[]; readonly taken: TakenKeys }> {
  const wanted = keys.map((key) => [key])
  const found = yield* query((rows) => rows.find(KEY, lease, wanted))
  const positions = new Map<string, number>()
  for (const row of found) if (row !== undefined) positions.set(String(row[0]), Number(row[1]))
  const fresh: string[] = []
  const taken = new Map<number, number>()
  for (const [index, key] of keys.entries()) {
    const position = positions.get(key)
    // Steps behind this one may have added keys already.
    if (position !== undefined && position < next + fresh.length) taken.set(index, position)
    else positions.set(key, next + fresh.push(key) - 1)
  }
  return { fresh, taken }
}

/** Gives new keys the positions from `next` on. Items whose keys are taken are staged if they replace others. */
export function* claimKeys(
  load: RunningLoad,
  keys: readonly string[],
  next: number,
  runs: readonly Uint8Array[],
): Steps<TakenKeys> {
  const { fresh, taken } = yield* findTakenKeys(load, keys, next)
  if (fresh.length > 0) yield* query((rows) => rows.insertKeys(load.lease, fresh, next))
  if (load.onConflict === 'replace' && taken.size > 0) {
    const texts = runs.flatMap(splitItems)
    // Of two for an item the last counts. They are kept aside until the load ends: readers must not see them before.
    const last = new Map([...taken].map(([index, position]) => [position, texts[index] ?? '']))
    yield* putTail(
      stagingOf(load.lease),
      [...last].map(([position, item]) => ({ position, item })),
    )
  }
  return taken
}

/** Prepares the reams that replacements change, some at a time, and their history. */
export function* stageReplacements(
  load: RunningLoad,
  from: number,
  before: StagedHistory,
  pool: DeflatePool,
): Steps<StagedReplacements> {
  const { lease, firstChange, generation, id, name } = load
  const staging = stagingOf(lease)
  const pending = yield* readTail(staging, from, MAX_POSITION, REPLACEMENTS_A_STEP)
  const changes = byReam(new Map(pending.map(({ position, item }) => [position, item])))
  // The last ream of a full step may have more to come: it is left for the next one.
  const next = pending.length === REPLACEMENTS_A_STEP ? Math.max(...changes.keys()) : undefined
  if (next !== undefined) changes.delete(next)
  const drafts = (yield* findReams(lease, [...changes.keys()])).map((ream) =>
    // Only what was there before the load belongs to the history.
    changedReam(
      ream,
      changes.get(ream.number) ?? new Map(),
      firstChange === undefined ? 0 : load.base - ream.number * REAM_SIZE,
    ),
  )
  const log: LoggedChange[] = []
  const sealed = pool.seal(drafts)
  for (let made = yield* query(() => sealed.next()); made.done !== true; made = yield* query(() => sealed.next())) {
    const { number, before: texts } = made.value
    yield* putReams(staging, [made.value])
    for (const [slot, text] of texts)
      log.push({ kind: 'replace', position: number * REAM_SIZE + slot, count: 1, before: text })
  }
  const first = (firstChange ?? 0) + before.changes
  const staged = numberChanges({ version: UNKNOWN_VERSION, generation }, first, log)
  yield* putChanges({ name, shardKey: lease.shardKey, id }, staged)
  return {
    resumePosition: next === undefined ? undefined : next * REAM_SIZE,
    staged: { changes: before.changes + staged.length, bytes: before.bytes + bytesOf(staged) },
  }
}

/**
 * Makes the load visible: the one commit that readers notice. It is remembered like a request: should the connection die with the
 * commit, the same again finds out whether it was done.
 */
export function* finishLoad(load: RunningLoad, counts: LoadCounts, pool: DeflatePool): Steps<Head> {
  const { lease, isReplacement, id } = load
  const { name, holder } = lease
  const before = yield* query((rows) => rows.lockHead(name))
  const once = { key: `load ${holder}`, digest: '' }
  const log = new RequestLog(name)
  const [remembered, steps] = yield* queryAll(
    (rows) => rows.findRequests(name, [{ key: once.key, collectionId: NO_COLLECTION }]),
    (rows) => rows.holdLease(lease),
  )
  log.add(remembered)
  const replacements = counts.replaced > 0 ? yield* replacementsInTail(load, counts.appended) : []
  let loaded: LoadedHead | undefined
  const makeHead = (): Head => {
    loaded = headAfterLoad(load, before && publicHead(before), counts, loggedOf(replacements, lease.base), id)
    return loaded.head
  }
  const head = log.runIdempotent(once, () => NO_COLLECTION, makeHead) as Head
  if (loaded === undefined) return head
  if (steps === undefined) throw lostLease(name)
  if (steps !== counts.steps) throw lostSteps(name)
  if (counts.replaced > 0) yield* applyReplacements(lease, replacements)
  yield* closeBegun(lease, head, pool)
  const hasStrays = !loaded.usesStaged && counts.staged.changes > 0
  const { shardKey, generationId } = lease
  const stored = { ...head, shardKey, generationId, isGuarded: hasStrays }
  const isKept = writesHistory(stored, before)
  const bytesBefore = isKept && before !== undefined ? yield* readHistoryBytes(before) : 0
  yield* query((rows) => rows.putHead(stored, before))
  if (hasStrays) {
    // Nobody writes to the collection until the changes that belong to nothing are gone.
    yield* query((rows) => rows.addHistoryLeftover(stored, head.changes))
    yield* query((rows) => rows.addLeftover(stored, head.next))
  }
  const replacedBytes = before !== undefined && isReplacement ? yield* retire(before) : 0
  if (isKept) {
    const bytes = counts.staged.bytes + replacedBytes
    const changes = numberChanges(head, loaded.firstChange, loaded.log)
    yield* writeHistory(stored, changes, { bytes, bytesBefore })
  }
  // It is held, so nobody waits for the answer.
  yield* queryAhead((rows) => rows.removeLease(lease))
  yield* log.write()
  return head
}

/** An item of the tail that a load replaces. */
interface TailReplacement extends TailItem {
  readonly before: string | undefined
}

/** The items that replace others in the tail, with the original ones. */
function* replacementsInTail({ lease }: RunningLoad, appended: number): Steps<TailReplacement[]> {
  const next = lease.base + appended
  // What the load added to a ream that was begun before is in the tail now, and so is what is left over at its end.
  const begun = { from: tailStart({ next: lease.base }), to: Math.min(next, reamEnd(lease.base)) }
  const replacements: TailReplacement[] = []
  for (const { from, to } of [begun, { from: Math.max(begun.to, tailStart({ next })), to: next }]) {
    const range = { from: [from], to: [to] }
    const [staged, stored] = yield* queryAll(
      (rows) => rows.scan(TAIL, stagingOf(lease), range),
      (rows) => rows.scan(TAIL, lease, range),
    )
    const texts = new Map(stored.map(([position, item]) => [position, String(item)]))
    for (const [position = 0, item] of staged)
      replacements.push({ position: Number(position), item: String(item), before: texts.get(position) })
  }
  return replacements
}

/** Those that were there before the load, as changes. */
function loggedOf(replacements: readonly TailReplacement[], base: number): LoggedChange[] {
  return replacements
    .filter(({ position }) => position < base)
    .map(({ position, before }) => ({ kind: 'replace', position, count: 1, before }))
}

/** Moves the reams that were staged, and the items of the tail. */
function* applyReplacements(lease: Lease, inTail: readonly TailReplacement[]): Steps<void> {
  yield* query((rows) => rows.moveStagedReams(lease))
  yield* query((rows) => rows.addLeftover(stagingOf(lease), 0))
  if (inTail.length > 0) yield* putTail(lease, inTail)
}

/** The ream that was begun before the load: its new items are in the tail, and those that make whole quires join the others. */
function* closeBegun(lease: Lease, head: Head, pool: DeflatePool): Steps<void> {
  const [from, to] = [tailStart({ next: lease.base }), Math.min(tailStart(head), reamEnd(lease.base))]
  if (from >= to) return
  const number = reamEnd(lease.base) / REAM_SIZE - 1
  const [stored] = from % REAM_SIZE === 0 ? [] : yield* findReams(lease, [number])
  const items = yield* readTail(lease, from, to)
  const draft = new ReamDraft(number, stored)
  for (let start = from; start < to; start += QUIRE_SIZE) draft.close(start, items)
  const sealed = pool.seal([draft])
  for (let made = yield* query(() => sealed.next()); made.done !== true; made = yield* query(() => sealed.next()))
    yield* putReams(lease, [made.value])
  yield* query((rows) => rows.removeRange(TAIL, lease, { from: [from], to: [to] }))
}

/** Retires the replaced generation: kept while history needs it, otherwise queued for sweeping. Returns its approximate size. */
function* retire(before: StoredHead): Steps<number> {
  if (!keepsHistory(before)) {
    yield* retireGeneration(before)
    return 0
  }
  yield* putReplaced(before)
  return Math.round((yield* query((rows) => rows.reamBytes(before))) * reamsIn(before))
}

/** Where the ream ends that was begun before a position; the position itself if none was. */
function reamEnd(position: number): number {
  return Math.ceil(position / REAM_SIZE) * REAM_SIZE
}

function lostSteps(name: string): StoreError {
  return new StoreError(
    'lease-lost',
    `The store lost some of what was loaded into "${name}": it crashed, or was restored to an older state. Nothing of the load was kept; start it again.`,
  )
}
