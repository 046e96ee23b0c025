/** What a change of a collection reads into its draft, and the rows that differ in the end. */

import { keepsHistory } from '../contract/state-tag.ts'
import { damagedCollection, NO_COLLECTION } from './collection-rules.ts'
import type { DeflatePool } from './deflate-pool.ts'
import { type Change, Draft } from './draft.ts'
import { bytesOf, numberChanges, OpenChanges, type Stretch } from './history.ts'
import { findObstacle } from './leases.ts'
import { holeCounts, MAX_POSITION, QUIRE_SIZE } from './positions.ts'
import { RequestLog } from './request-log.ts'
import { query, queryAll, type RequestPlace, type Steps } from './rows.ts'
import type { Once } from './store.ts'
import {
  LAST,
  putChanges,
  putPastHoles,
  readHistoryBytes,
  retireGeneration,
  stateFrom,
  takeReplaced,
  writeHistory,
  writesHistory,
} from './stored-history.ts'
import { putReams, putTail, tailItemFrom } from './stored-items.ts'
import { FOLLOWING, KEY, publicHead, type Row, STATE, type StoredHead, TAIL } from './tables.ts'

/** A draft in a transaction, with what the store alone needs to know. */
export interface OpenDraft {
  readonly draft: Draft
  readonly before: StoredHead | undefined
  readonly requests: RequestLog
  /** How much the history takes, where it was read. */
  historyBytes?: number
}

/** One of the calls that share a transaction. */
export interface Call {
  readonly change: Change<unknown>
  readonly once: Once | undefined
}

export function openDraft(name: string, before: StoredHead | undefined, obstacle?: Error): OpenDraft {
  return { draft: new Draft(name, before && publicHead(before), obstacle), before, requests: new RequestLog(name) }
}

/** Under the lock on the head. */
export function* beginDraft(name: string): Steps<OpenDraft> {
  const head = yield* query((rows) => rows.lockHead(name))
  return openDraft(name, head, yield* findObstacle(name, head))
}

/** Applies one call. Refusals throw a StoreError, and change nothing. */
export function applyCall({ draft, requests }: OpenDraft, { change, once }: Call): unknown {
  const apply = () => draft.apply(change)
  return once === undefined ? apply() : requests.runIdempotent(once, () => writtenTo(draft, change), apply)
}

/** The id of the collection for which a request is remembered. */
function writtenTo(draft: Draft, { isDrop }: Change<unknown>): number | undefined {
  return isDrop ? NO_COLLECTION : draft.head?.id
}

/** Reads, under the lock on the head, what the calls have to know. */
export function* readForCalls(open: OpenDraft, calls: readonly Call[]): Steps<void> {
  const { draft, before: head } = open
  const changes = calls.map(({ change }) => change)
  const keys = draft.missingKeys(changes)
  const sent = placesOf(draft, calls)
  const needsHistory = head !== undefined && keepsHistory(head) && open.historyBytes === undefined
  if (keys.length > 0 || sent.length > 0 || needsHistory) {
    // That a key is free is proven when it is added; whoever looks for an item needs the proof that there is none.
    const isProven = changes.some(({ touchesItems }) => touchesItems)
    const wanted = keys.map((key) => [key])
    const [found, remembered, [last]] = yield* queryAll(
      (rows) => (head === undefined || keys.length === 0 ? [] : rows.find(KEY, head, wanted, isProven)),
      (rows) => (sent.length === 0 ? [] : rows.findRequests(draft.name, sent)),
      (rows) => (needsHistory ? rows.scan(STATE, head, LAST) : []),
    )
    open.requests.add(remembered)
    if (needsHistory) open.historyBytes = last === undefined ? 0 : stateFrom(last).bytes
    if (head !== undefined && keys.length > 0) draft.addPositions(keys, positionsIn(head, found))
  }
  if (head !== undefined) yield* readItems(head, draft, changes)
}

/** The requests that may have been answered before. */
function placesOf(draft: Draft, calls: readonly Call[]): RequestPlace[] {
  const places: RequestPlace[] = []
  for (const { once, change } of calls) {
    const collectionId = once && writtenTo(draft, change)
    if (once !== undefined && collectionId !== undefined) places.push({ key: once.key, collectionId })
  }
  return places
}

function positionsIn(head: StoredHead, found: readonly (Row | undefined)[]): Map<string, number> {
  const positions = new Map<string, number>()
  for (const row of found) {
    if (row === undefined) continue
    const [key, position] = row as [string, number]
    // A load that is not finished has the positions after the head.
    if (position < head.next) positions.set(key, position)
  }
  return positions
}

function* readItems(head: StoredHead, draft: Draft, changes: readonly Change<unknown>[]): Steps<void> {
  const { reams, tail, tailPositions } = draft.missingRows(changes)
  if (reams.length === 0 && tail === undefined && tailPositions.length === 0) return
  const single = tailPositions.map((position) => [position])
  const [foundReams, foundTail] = yield* queryAll(
    (rows) => (reams.length === 0 ? [] : rows.reamsToChange(head, reams)),
    (rows) => {
      if (tail !== undefined) return rows.wholeTail(head)
      return single.length === 0 ? [] : rows.find(TAIL, head, single)
    },
  )
  for (const [number, ream] of foundReams) draft.addReam(number, ream)
  const items = foundTail.map((row, at) => {
    if (row !== undefined) return tailItemFrom(row)
    throw damagedCollection(head.name, `The item at position ${tailPositions[at]}, in the tail, is missing.`)
  })
  draft.addTail(items, tail !== undefined)
}

/** Writes what differs between a draft and what is stored. */
export function* writeDraft({ draft, before, requests, historyBytes }: OpenDraft, pool: DeflatePool): Steps<void> {
  if (!draft.isChanged) return yield* requests.write()
  if (draft.head === undefined) {
    if (before !== undefined) yield* dropCollection(before)
    return yield* requests.write()
  }
  const changed = draft.head
  const head = yield* query((rows) => rows.storedHead(changed, before))
  const isKept = writesHistory(head, before)
  const bytesBefore = historyBytes ?? (isKept && before !== undefined ? yield* readHistoryBytes(before) : 0)
  yield* query((rows) => rows.putHead(head, before))
  const { closedTail } = draft
  if (closedTail !== undefined) {
    const quire = { from: [closedTail], to: [closedTail + QUIRE_SIZE] }
    yield* query((rows) => rows.removeRange(TAIL, head, quire))
  }
  yield* writeTail(head, draft)
  yield* writeKeys(head, draft)
  const firstChange = head.changes - draft.log.reduce((sum, { count }) => sum + count, 0)
  const changes = isKept ? numberChanges(head, firstChange, draft.log) : []
  const open = new OpenChanges(changes)
  const bytes = yield* writeReams(head, draft, pool, open)
  if (isKept) {
    yield* putPastHoles(head, changes)
    yield* writeHistory(head, open.rest(), { bytes, bytesBefore })
  }
  const holes = holeCounts(draft.holes)
  if (holes.length > 0) yield* query((rows) => rows.addHoles(head, holes))
  yield* requests.write()
}

function* writeTail(head: StoredHead, { changedTail }: Draft): Steps<void> {
  const deleted: [number][] = []
  const items: { position: number; item: string }[] = []
  for (const [position, item] of changedTail)
    if (item === null) deleted.push([position])
    else items.push({ position, item })
  if (deleted.length > 0) yield* query((rows) => rows.remove(TAIL, head, deleted))
  if (items.length > 0) yield* putTail(head, items)
}

/** Keys are removed before others, or the same, are added. */
function* writeKeys(head: StoredHead, { removedKeys, addedKeys }: Draft): Steps<void> {
  const removed = [...removedKeys].map((key) => [key])
  if (removed.length > 0) yield* query((rows) => rows.remove(KEY, head, removed))
  if (addedKeys.size > 0) yield* query((rows) => rows.addKeys(head, addedKeys))
}

/** Texts of replaced and deleted items that are in memory: a commit may change more than that holds. */
const BYTES_AT_A_TIME = 1024 * 1024

/** Returns how much the changes take that are written, because their texts came out of the reams. */
function* writeReams(head: StoredHead, draft: Draft, pool: DeflatePool, open: OpenChanges): Steps<number> {
  const completed: Stretch[] = []
  let [bytes, waiting] = [0, 0]
  const sealed = pool.seal(draft.changedReams.values())
  try {
    for (let next = yield* query(() => sealed.next()); next.done !== true; next = yield* query(() => sealed.next())) {
      yield* putReams(head, [next.value])
      const changes = open.complete(next.value)
      completed.push(...changes)
      waiting += bytesOf(changes)
      if (waiting < BYTES_AT_A_TIME) continue
      yield* putChanges(head, completed.splice(0))
      bytes += waiting
      waiting = 0
    }
  } finally {
    void sealed.return(undefined)
  }
  yield* putChanges(head, completed)
  return bytes + waiting
}

/** The collection is gone with this commit; its rows are left over, to be swept. */
function* dropCollection(head: StoredHead): Steps<void> {
  yield* query((rows) => rows.removeHead(head))
  // After the head: nobody can note anything from then on.
  yield* query((rows) => rows.remove(FOLLOWING, head, [[head.name]]))
  yield* query((rows) => rows.addLeftover(head, 0))
  yield* query((rows) => rows.addHistoryLeftover(head, 0))
  for (const replaced of yield* takeReplaced(head, MAX_POSITION)) yield* retireGeneration(replaced)
}
