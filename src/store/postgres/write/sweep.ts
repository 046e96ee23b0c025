/** The removal of what nobody can see: dropped collections, old generations, loads that died. In many small commits. */

import { REAM_SIZE } from '../../positions.ts'
import { StoreError } from '../../store-error.ts'
import { lockHead, type StoredHead, shardKeyOf, writeHead } from '../rows/head.ts'
import type { Connections } from '../server/connection.ts'
import { Transaction } from '../server/transaction.ts'
import { findLease, type Lease } from './lease.ts'

/** What one step removes, at most: small enough that other writers hardly wait. */
const REAMS_A_STEP = 500
const ROWS_A_STEP = 20_000

/** Removes everything that is left over, of all collections. */
export async function sweepAll(connections: Connections): Promise<void> {
  for (const [name] of await connections.lend((rows) => rows.all('readDeadLeases')))
    await abandonDeadLease(connections, String(name))
  for (const [shardKey] of await connections.lend((rows) => rows.all('readLeftoverShardKeys')))
    await sweepShard(connections, Number(shardKey))
}

/** Removes what lies in the way of writes to a name. */
export async function sweepName(connections: Connections, name: string): Promise<void> {
  await abandonDeadLease(connections, name)
  await sweepShard(connections, shardKeyOf(name))
}

/** A load ends without a commit. After a take-over the items at its positions are somebody else's, and stay. */
export async function abandonLoad(connections: Connections, { name, shardKey, holder }: Lease): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    const head = await lockHead(transaction, name)
    const lease = await findLease(transaction, name)
    if (lease?.holder !== holder) return
    void transaction.write('deleteLease', shardKey, name, holder)
    leaveOver(transaction, head, lease)
    await transaction.commit()
  })
}

async function abandonDeadLease(connections: Connections, name: string): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    const head = await lockHead(transaction, name)
    const lease = await findLease(transaction, name)
    if (lease === undefined || !lease.isDead) return
    // Its holder may have renewed it meanwhile.
    const { count } = await transaction.write('deleteDeadLease', lease.shardKey, name, lease.holder)
    if (count === 0) return
    leaveOver(transaction, head, lease)
    await transaction.commit()
  })
}

/** Marks what a load leaves behind: its items, which can be in the way, and what it prepared beside them. */
function leaveOver(transaction: Transaction, head: StoredHead | undefined, lease: Lease): void {
  const { shardKey, generationId, base, staging } = lease
  void transaction.write('addLeftover', shardKey, generationId, base)
  void transaction.write('addLeftover', shardKey, staging, 0)
  if (head !== undefined && head.generationId !== generationId)
    writeHead(transaction, head, { ...head, isGuarded: false })
}

async function sweepShard(connections: Connections, shardKey: number): Promise<void> {
  while (await inTransaction(connections, (transaction) => sweepStep(transaction, shardKey)));
}

/** Removes some of what is left over at a shard key. True while there is more to do. */
async function sweepStep(transaction: Transaction, shardKey: number): Promise<boolean> {
  const row = await transaction.first('lockLeftover', shardKey)
  if (row === undefined) return false
  const [generationId, base, cursor] = row as [number, number, Buffer]
  if ((await transaction.first('isVisible', shardKey, generationId, base)) !== undefined)
    throw new StoreError(
      'corrupt',
      'Rows that are marked as leftovers are in use. `reams verify` has details; nothing was removed.',
    )
  const isMore = await sweepGeneration(transaction, shardKey, generationId, base, cursor)
  if (!isMore) {
    void transaction.write('deleteLeftover', shardKey, generationId)
    void transaction.write('unguard', shardKey, generationId)
  }
  await transaction.commit()
  return true
}

async function sweepGeneration(
  transaction: Transaction,
  shardKey: number,
  generationId: number,
  base: number,
  cursor: Buffer,
): Promise<boolean> {
  const reams = await transaction.write('sweepReams', shardKey, generationId, Math.ceil(base / REAM_SIZE), REAMS_A_STEP)
  if (reams.count > 0) return true
  const items = await transaction.write('sweepTail', shardKey, generationId, base, ROWS_A_STEP)
  if (items.count > 0) return true
  if (base === 0) void transaction.write('sweepHoles', shardKey, generationId)
  const lastKey = (await transaction.first('findLastKey', shardKey, generationId, cursor, ROWS_A_STEP))?.[0] as
    | Buffer
    | undefined
  if (lastKey === undefined) return false
  void transaction.write('sweepKeys', shardKey, generationId, cursor, lastKey, base)
  void transaction.write('moveCursor', shardKey, generationId, lastKey)
  return true
}

function inTransaction<T>(connections: Connections, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return connections.lend((rows) => Transaction.run(rows, work))
}
