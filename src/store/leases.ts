/** Leases of loads, and the removal of what nobody can see: dropped collections, old generations, loads that died. */

import { CHANGES_A_STEP, STATES_A_STEP } from './history.ts'
import { busyCollection, leftoversInUse, REAMS_A_SWEEP, ROWS_A_SWEEP } from './load.ts'
import { MAX_POSITION, REAM_SIZE } from './positions.ts'
import { type FoundLease, type Lease, type Leftover, query, type Steps } from './rows.ts'
import { removeChanges, type StepSize } from './stored-history.ts'
import { HOLE, REAM, STATE, type StoredHead, TAIL } from './tables.ts'

/** Nothing can be written before leftovers are removed: the caller sweeps and tries again. */
export class SweepNeeded extends Error {
  override readonly name = 'SweepNeeded'
}

/** Somebody else made the collection, or began to load it, at the same time: the caller tries again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** Why nothing may be written now: a load is running, or the leftovers of one are where a write would go. */
export function* findObstacle(name: string, head: StoredHead | undefined): Steps<Error | undefined> {
  if (head?.isGuarded === false) return undefined
  const lease = yield* query((rows) => rows.findLease(name))
  if (lease !== undefined) return lease.isDead ? new SweepNeeded() : busyCollection(lease)
  const isBlocked = head !== undefined && (yield* query((rows) => rows.isBlocked(head)))
  return isBlocked ? new SweepNeeded() : undefined
}

/** The generation in which a load stages items. */
export function stagingOf({ name, shardKey, stagingId }: Lease) {
  return { name, shardKey, generationId: stagingId }
}

/**
 * Ends a load without a commit: that of the holder, else one that died. Its items can be in the way of a write, and so can what
 * it staged. Only the holder may: after a take-over these positions are somebody else's.
 */
export function* abandonLoad(name: string, holder?: string): Steps<void> {
  const head = yield* query((rows) => rows.lockHead(name))
  const lease = yield* query((rows) => rows.findLease(name))
  if (lease === undefined || (holder === undefined ? !lease.isDead : lease.holder !== holder)) return
  yield* abandonLease(lease, head, holder !== undefined)
}

function* abandonLease(lease: FoundLease, head: StoredHead | undefined, isHolder: boolean): Steps<void> {
  const { isDead: _, ...held } = lease
  if (!(yield* query((rows) => rows.removeLease(isHolder ? held : lease)))) return
  yield* query((rows) => rows.addLeftover(lease, lease.base))
  yield* query((rows) => rows.addLeftover(stagingOf(lease), 0))
  if (head === undefined) return
  if (head.generationId === lease.generationId) yield* query((rows) => rows.addHistoryLeftover(head, head.changes))
  else yield* query((rows) => rows.putHead({ ...head, isGuarded: false }, head))
}

/** How many rows a step removes at most. */
export interface SweepSize extends StepSize {
  readonly reams: number
  readonly rows: number
}

/** So few that no writer waits for long. */
export const FULL_STEP: SweepSize = {
  states: STATES_A_STEP,
  changes: CHANGES_A_STEP,
  reams: REAMS_A_SWEEP,
  rows: ROWS_A_SWEEP,
}

/** Ends loads that died. */
export function* abandonDead(): Steps<void> {
  for (const { name, isDead } of yield* query((rows) => rows.findLeases())) if (isDead) yield* abandonLoad(name)
}

/** Shard keys at which something is left over. */
export function* leftoverShards(): Steps<readonly number[]> {
  const found = yield* query((rows) => rows.findLeftovers())
  return [...new Set(found.map(({ owner }) => owner.shardKey))]
}

/** Removes some of what is left over anywhere. Returns whether there may be more. */
export function* sweepAny(size: SweepSize): Steps<boolean> {
  yield* abandonDead()
  const [shardKey] = yield* leftoverShards()
  return shardKey !== undefined && (yield* sweepStep(shardKey, size))
}

/** Removes some of what is left over at a shard key. Returns whether there may be more. */
export function* sweepStep(shardKey: number, size: SweepSize): Steps<boolean> {
  const leftover = yield* query((rows) => rows.lockLeftover(shardKey))
  if (leftover === undefined) return false
  if (leftover.isHistory) yield* sweepHistory(leftover, size)
  else yield* sweepGeneration(leftover, size)
  return true
}

function* sweepGeneration(leftover: Leftover, size: SweepSize): Steps<void> {
  const { owner, base, keyCursor } = leftover
  if (yield* query((rows) => rows.isVisible(owner, base))) throw leftoversInUse()
  const reams = { from: [Math.ceil(base / REAM_SIZE)], limit: size.reams }
  if ((yield* query((rows) => rows.removeRange(REAM, owner, reams))) > 0) return
  const items = { from: [base], limit: size.rows }
  if ((yield* query((rows) => rows.removeRange(TAIL, owner, items))) > 0) return
  if (base === 0) yield* query((rows) => rows.removeRange(HOLE, owner, {}))
  const lastKey = yield* query((rows) => rows.findLastKey(owner, keyCursor, size.rows))
  if (lastKey === undefined) yield* query((rows) => rows.removeLeftover(leftover))
  else {
    yield* query((rows) => rows.sweepKeys(owner, keyCursor, lastKey, base))
    yield* query((rows) => rows.moveCursor(leftover, lastKey))
  }
}

/** Of a collection that was dropped, or what a load wrote that did not end. */
function* sweepHistory(leftover: Leftover, size: SweepSize): Steps<void> {
  const { owner, base } = leftover
  const changes = yield* query((rows) => rows.findChanges(owner))
  if ((changes ?? 0) > base) throw leftoversInUse()
  if (yield* removeChanges(owner, { from: base, to: MAX_POSITION }, size.changes)) return
  // A collection that exists may have no changes yet, and its states are no leftovers.
  const states = { limit: size.changes }
  if (changes === undefined && (yield* query((rows) => rows.removeRange(STATE, owner, states))) > 0) return
  yield* query((rows) => rows.removeLeftover(leftover))
}
