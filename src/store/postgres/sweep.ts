/** The removal of what nobody can see: dropped collections, old generations, loads that died. In many small commits. */

import { REAM_SIZE } from '../rank.ts'
import { StoreError } from '../store-error.ts'
import type { Connections } from './connection.ts'
import { lockHead, placeOf, type StoredHead, writeHead } from './head.ts'
import { findLease, type Lease } from './lease.ts'
import { Transaction } from './transaction.ts'

/** What one step removes, at most: small enough that other writers hardly wait. */
const REAMS_A_STEP = 500
const ROWS_A_STEP = 20_000

/** Removes everything that is left over, of all collections. */
export async function sweepAll(connections: Connections): Promise<void> {
  for (const [name] of await connections.lend((rows) => rows.all('readDeadLeases')))
    await abandonDeadLease(connections, String(name))
  for (const [place] of await connections.lend((rows) => rows.all('readLeftoverPlaces')))
    await sweepPlace(connections, Number(place))
}

/** Removes what lies in the way of writes to a name. */
export async function sweepName(connections: Connections, name: string): Promise<void> {
  await abandonDeadLease(connections, name)
  await sweepPlace(connections, placeOf(name))
}

/** A load ends without a commit. After a take-over the items at its positions are somebody else's, and stay. */
export async function abandonLoad(connections: Connections, { name, place, holder }: Lease): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    const head = await lockHead(transaction, name)
    const lease = await findLease(transaction, name)
    if (lease?.holder !== holder) return
    void transaction.write('deleteLease', place, name, holder)
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
    const { count } = await transaction.write('deleteDeadLease', lease.place, name, lease.holder)
    if (count === 0) return
    leaveOver(transaction, head, lease)
    await transaction.commit()
  })
}

/** Marks what a load leaves behind: its items, which can be in the way, and what it prepared beside them. */
function leaveOver(transaction: Transaction, head: StoredHead | undefined, lease: Lease): void {
  const { place, shelf, base, staging } = lease
  void transaction.write('addLeftover', place, shelf, base)
  void transaction.write('addLeftover', place, staging, 0)
  if (head !== undefined && head.shelf !== shelf) writeHead(transaction, head, { ...head, isGuarded: false })
}

async function sweepPlace(connections: Connections, place: number): Promise<void> {
  while (await inTransaction(connections, (transaction) => sweepStep(transaction, place)));
}

/** Removes some of what is left over at a place. True while there is more to do. */
async function sweepStep(transaction: Transaction, place: number): Promise<boolean> {
  const row = await transaction.first('lockLeftover', place)
  if (row === undefined) return false
  const [shelf, base, cursor] = row as [number, number, Buffer]
  if ((await transaction.first('isVisible', place, shelf, base)) !== undefined)
    throw new StoreError(
      'corrupt',
      'What is marked as left over is in use. `reams verify` tells more; nothing was removed.',
    )
  const isMore = await sweepShelf(transaction, place, shelf, base, cursor)
  if (!isMore) {
    void transaction.write('deleteLeftover', place, shelf)
    void transaction.write('unguard', place, shelf)
  }
  await transaction.commit()
  return true
}

async function sweepShelf(
  transaction: Transaction,
  place: number,
  shelf: number,
  base: number,
  cursor: Buffer,
): Promise<boolean> {
  const reams = await transaction.write('sweepReams', place, shelf, Math.ceil(base / REAM_SIZE), REAMS_A_STEP)
  if (reams.count > 0) return true
  const items = await transaction.write('sweepTail', place, shelf, base, ROWS_A_STEP)
  if (items.count > 0) return true
  if (base === 0) void transaction.write('sweepHoles', place, shelf)
  const lastKey = (await transaction.first('findLastKey', place, shelf, cursor, ROWS_A_STEP))?.[0] as Buffer | undefined
  if (lastKey === undefined) return false
  void transaction.write('sweepKeys', place, shelf, cursor, lastKey, base)
  void transaction.write('moveCursor', place, shelf, lastKey)
  return true
}

function inTransaction<T>(connections: Connections, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return connections.lend((rows) => Transaction.run(rows, work))
}
