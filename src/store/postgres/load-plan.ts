/** The beginning of a load: what it is going to do, and the lease that keeps other writers away. */

import { randomUUID } from 'node:crypto'
import { checkName, checkSettings, completeSettings, newId } from '../collection-rules.ts'
import type { LoadPlan } from '../load.ts'
import type { LoadOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Connections } from './connection.ts'
import { lockHead, placeOf, type StoredHead, writeHead } from './head.ts'
import { findObstacle, type Lease, takeLease } from './lease.ts'
import { Transaction } from './transaction.ts'
import { TryAgain } from './try-again.ts'
import { tryTransaction } from './try-transaction.ts'

export interface LeasedPlan extends LoadPlan {
  readonly lease: Lease
  readonly isNew: boolean
  readonly isReplacement: boolean
}

export function beginLoad(connections: Connections, name: string, options: LoadOptions): Promise<LeasedPlan> {
  checkName(name)
  return tryTransaction(connections, name, (rows) =>
    Transaction.run(rows, async (transaction) => {
      const head = await lockHead(transaction, name)
      const obstacle = await findObstacle(transaction, name, head)
      if (obstacle !== undefined) throw obstacle
      const plan = planLoad(name, head, options)
      if (!(await takeLease(transaction, plan.lease))) throw new TryAgain(false)
      if (head !== undefined) writeHead(transaction, head, { ...head, isGuarded: true })
      // Somebody may have made the collection before the lease was there.
      else if ((await lockHead(transaction, name)) !== undefined) throw new TryAgain(false)
      await transaction.commit()
      return plan
    }),
  )
}

function planLoad(name: string, head: StoredHead | undefined, options: LoadOptions): LeasedPlan {
  const { settings: wanted = {}, isReplacement = false, onConflict = 'fail' } = options
  if (head !== undefined) checkSettings(head, wanted)
  const { keyField, isPaginated, isPrivate } = head ?? completeSettings(wanted)
  if (onConflict !== 'fail' && keyField === null)
    throw new StoreError(
      'no-key-field',
      `The collection "${name}" has no key, so no item can be there already: "on conflict ${onConflict}" means nothing for it. Leave that out, or import under another name with a key.`,
    )
  const kept = isReplacement ? undefined : head
  const base = kept?.next ?? 0
  const lease = {
    name,
    place: placeOf(name),
    shelf: kept?.shelf ?? newId(),
    staging: newId(),
    base,
    holder: randomUUID(),
  }
  const settings = { keyField, isPaginated, isPrivate }
  return { name, base, lease, settings, isNew: head === undefined, isReplacement, onConflict, live: kept?.live ?? 0 }
}
