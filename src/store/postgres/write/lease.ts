/**
 * Leases of loads, judged by time alone and by the clock of the database, and the removal of what nobody can see: dropped
 * collections, old generations, loads that died.
 */

import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { busyCollection, leftoversInUse, REAMS_A_SWEEP, ROWS_A_SWEEP } from '../../load.ts'
import { MAX_POSITION, REAM_SIZE } from '../../positions.ts'
import { StoreError } from '../../store-error.ts'
import { lockHead, type RowOwner, type StoredHead, shardKeyOf, writeHead } from '../rows/head.ts'
import { removeChanges } from '../rows/history.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { canTryAgain, OutcomeUnknown, TryAgain } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'

/** Its owner is where the load appends, at positions from `base` on. */
export interface Lease extends RowOwner {
  readonly name: string
  readonly base: number
  /** The generation in which it prepares items that will take the place of others. */
  readonly staging: number
  readonly holder: string
}

interface FoundLease extends Lease {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly isDead: boolean
}

/** False if somebody has one on that name. */
export async function takeLease(transaction: Transaction, lease: Lease): Promise<boolean> {
  const { shardKey, name, generationId, staging, base, holder } = lease
  const values = [shardKey, name, generationId, staging, base, holder, hostname(), process.pid]
  return (await transaction.write('insertLease', ...values)).count === 1
}

async function findLease(transaction: Transaction, name: string): Promise<FoundLease | undefined> {
  const shardKey = shardKeyOf(name)
  const row = await transaction.first('readLease', shardKey, name)
  if (row === undefined) return undefined
  const [generationId, staging, base, holder, host, pid, startedAt, isDead] = row as [
    ...[number, number, number, string, string, number, number],
    boolean,
  ]
  return { name, shardKey, generationId, staging, base, holder, host, pid, startedAt, isDead }
}

/** What refuses a write while a load is running. What a dead one left in the way has to be removed first. */
export async function findObstacle(
  transaction: Transaction,
  name: string,
  head: StoredHead | undefined,
): Promise<StoreError | undefined> {
  if (head !== undefined && !head.isGuarded) return undefined
  const lease = await findLease(transaction, name)
  if (lease === undefined && head === undefined) return undefined
  if (lease === undefined || lease.isDead) throw new TryAgain(true)
  return busyCollection(lease)
}

/** Removes everything that is left over, of all collections, in many small commits. */
export async function sweepAll(connections: Connections): Promise<void> {
  for (const [name] of await connections.lend((rows) => rows.all('readDeadLeases')))
    await abandonLoad(connections, String(name))
  for (const [shardKey] of await connections.lend((rows) => rows.all('readLeftoverShardKeys')))
    await sweepShard(connections, Number(shardKey))
}

/** Removes what lies in the way of writes to a name. */
export async function sweepName(connections: Connections, name: string): Promise<void> {
  await abandonLoad(connections, name)
  await sweepShard(connections, shardKeyOf(name))
}

/**
 * Ends a load without a commit: that of the holder, else one that died. It marks what the load leaves behind: its items,
 * which can be in the way, and what it prepared beside them. After a take-over they are somebody else's, and stay.
 */
export async function abandonLoad(connections: Connections, name: string, holder?: string): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    const head = await lockHead(transaction, name)
    const lease = await findLease(transaction, name)
    if (lease === undefined || (holder === undefined ? !lease.isDead : lease.holder !== holder)) return
    const { shardKey, generationId, base, staging } = lease
    // One that seemed dead may have been renewed meanwhile.
    const deleteIt = holder === undefined ? 'deleteDeadLease' : 'deleteLease'
    if ((await transaction.write(deleteIt, shardKey, name, lease.holder)).count === 0) return
    void transaction.write('addLeftover', shardKey, generationId, base)
    void transaction.write('addLeftover', shardKey, staging, 0)
    if (head?.generationId === generationId)
      void transaction.write('addHistoryLeftover', shardKey, head.id, head.changes)
    if (head !== undefined && head.generationId !== generationId)
      writeHead(transaction, head, { ...head, isGuarded: false })
    await transaction.commit()
  })
}

async function sweepShard(connections: Connections, shardKey: number): Promise<void> {
  while (await inTransaction(connections, (transaction) => sweepStep(transaction, shardKey)));
}

/** Removes some of what is left over at a shard key. True while there is more to do. */
async function sweepStep(transaction: Transaction, shardKey: number): Promise<boolean> {
  const row = await transaction.first('lockLeftover', shardKey)
  if (row === undefined) return false
  const [generationId, base, cursor, isHistory] = row as [number, number, Buffer, boolean]
  if (isHistory) return sweepHistory(transaction, { shardKey, id: generationId }, base)
  const isVisible = (await transaction.first('isVisible', shardKey, generationId, base)) !== undefined
  if (isVisible) throw leftoversInUse()
  if (!(await sweepRows(transaction, { shardKey, generationId }, base, cursor))) {
    void transaction.write('deleteLeftover', shardKey, generationId)
    void transaction.write('unguard', shardKey, generationId)
  }
  await transaction.commit()
  return true
}

/** Of a collection that is gone, or what a load wrote that did not end. */
async function sweepHistory(
  transaction: Transaction,
  collection: { readonly shardKey: number; readonly id: number },
  base: number,
): Promise<boolean> {
  const { shardKey, id } = collection
  const seen = (await transaction.first('readChangesOf', shardKey, id))?.[0]
  if (Number(seen ?? 0) > base) throw leftoversInUse()
  // A collection that is there may have no changes yet, and its states are no leftovers.
  const isGone = seen === undefined
  const isMore =
    (await removeChanges(transaction, collection, base, MAX_POSITION)) ||
    (isGone && (await transaction.write('sweepStates', shardKey, id, ROWS_A_SWEEP)).count > 0)
  if (!isMore) void transaction.write('deleteLeftover', shardKey, id)
  await transaction.commit()
  return true
}

async function sweepRows(
  transaction: Transaction,
  { shardKey, generationId }: RowOwner,
  base: number,
  cursor: Buffer,
): Promise<boolean> {
  const firstReam = Math.ceil(base / REAM_SIZE)
  const reams = await transaction.write('sweepReams', shardKey, generationId, firstReam, REAMS_A_SWEEP)
  if (reams.count > 0) return true
  const items = await transaction.write('sweepTail', shardKey, generationId, base, ROWS_A_SWEEP)
  if (items.count > 0) return true
  if (base === 0) void transaction.write('sweepHoles', shardKey, generationId)
  const [lastKey] = (await transaction.first('findLastKey', shardKey, generationId, cursor, ROWS_A_SWEEP)) ?? []
  if (lastKey === undefined) return false
  void transaction.write('sweepKeys', shardKey, generationId, cursor, lastKey, base)
  void transaction.write('moveCursor', shardKey, generationId, lastKey)
  return true
}

export function inTransaction<T>(connections: Connections, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return connections.lend((rows) => Transaction.run(rows, work))
}

const MAX_DETOURS = 100
const PAUSE_MS = 50

/** For finding out what became of a commit that was not answered. */
const FIND_OUT_MS = 10_000

/** Tries a transaction again where that is certain to do it once. */
export async function tryTransaction<T>(
  connections: Connections,
  name: string,
  work: (rows: Rows) => Promise<T>,
): Promise<T> {
  for (let tries = 1, detours = 1; ; ) {
    try {
      return await connections.lend(work)
    } catch (error) {
      if (error instanceof TryAgain && detours++ < MAX_DETOURS) {
        if (error.needsSweep) await sweepName(connections, name)
      } else if (tries++ < connections.mostTries && canTryAgain(error)) await sleep(PAUSE_MS * Math.random())
      else throw error
    }
  }
}

/**
 * Repeats work whose outcome is in the log of requests, until it is known. Whoever is still committing it holds the
 * head, so nobody can look into the log too early.
 */
export async function untilKnown<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + FIND_OUT_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreError && error.code !== 'overloaded') throw error
      if (performance.now() > deadline) throw new OutcomeUnknown('Nobody could be asked.', { cause: error })
      await sleep(PAUSE_MS)
    }
  }
}
