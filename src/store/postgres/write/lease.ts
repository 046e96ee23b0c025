/** Leases: who is loading into a collection. They are judged by time alone, and by the clock of the database. */

import { hostname } from 'node:os'
import type { LoadPlan } from '../../load.ts'
import { StoreError } from '../../store-error.ts'
import { type StoredHead, shardKeyOf } from '../rows/head.ts'
import { TryAgain } from '../server/explain-error.ts'
import type { Transaction } from '../server/transaction.ts'

export interface Lease {
  readonly name: string
  readonly shardKey: number
  /** Where the load appends, at positions from `base` on. */
  readonly generationId: number
  readonly base: number
  /** Where it prepares items that will take the place of others. */
  readonly staging: number
  readonly holder: string
}

/** A load that has its lease. */
export interface LeasedPlan extends LoadPlan {
  readonly lease: Lease
}

export interface FoundLease extends Lease {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly isDead: boolean
}

/** False if somebody has one on that name. */
export async function takeLease(transaction: Transaction, lease: Lease): Promise<boolean> {
  const { shardKey, name, generationId, staging, base, holder } = lease
  const host = hostname()
  const { count } = await transaction.write(
    'insertLease',
    shardKey,
    name,
    generationId,
    staging,
    base,
    holder,
    host,
    process.pid,
  )
  return count === 1
}

export async function findLease(transaction: Transaction, name: string): Promise<FoundLease | undefined> {
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
  return new StoreError(
    'busy',
    `An import, a copy or a compaction of "${name}" has been running since ${new Date(lease.startedAt).toISOString()} (process ${lease.pid} on ${lease.host}). Wait until it has ended, then try again.`,
  )
}

export function lostLease(name: string): StoreError {
  return new StoreError(
    'lease-lost',
    `The load into "${name}" stalled for more than 10 s and another writer took over. Nothing of it was kept; start it again.`,
  )
}

/** Steps are not waited for until the disk has them: a crash of the database takes the last of them back. */
export function lostSteps(name: string): StoreError {
  return new StoreError(
    'lease-lost',
    `The database crashed and lost some of what was loaded into "${name}". Nothing of the load was kept; start it again.`,
  )
}
