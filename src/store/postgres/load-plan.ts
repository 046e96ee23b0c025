/** The beginning of a load: what it is going to do, and the lease that keeps other writers away. */

import { randomUUID } from 'node:crypto'
import { checkName, newId } from '../collection-rules.ts'
import { type LoadPlan, planLoad } from '../load.ts'
import type { LoadOptions } from '../store.ts'
import type { Connections } from './connection.ts'
import { lockHead, placeOf, type StoredHead, shownHead, writeHead } from './head.ts'
import { findObstacle, type Lease, takeLease } from './lease.ts'
import { Transaction } from './transaction.ts'
import { TryAgain } from './try-again.ts'
import { tryTransaction } from './try-transaction.ts'

export interface LeasedPlan extends LoadPlan {
  readonly lease: Lease
}

export function beginLoad(connections: Connections, name: string, options: LoadOptions): Promise<LeasedPlan> {
  checkName(name)
  return tryTransaction(connections, name, (rows) =>
    Transaction.run(rows, async (transaction) => {
      const head = await lockHead(transaction, name)
      const obstacle = await findObstacle(transaction, name, head)
      if (obstacle !== undefined) throw obstacle
      const plan = leasedPlan(planLoad(name, head && shownHead(head), options), head)
      if (!(await takeLease(transaction, plan.lease))) throw new TryAgain(false)
      if (head !== undefined) writeHead(transaction, head, { ...head, isGuarded: true })
      // Somebody may have made the collection before the lease was there.
      else if ((await lockHead(transaction, name)) !== undefined) throw new TryAgain(false)
      await transaction.commit()
      return plan
    }),
  )
}

/** A replacement writes to a generation of its own. */
function leasedPlan(plan: LoadPlan, head: StoredHead | undefined): LeasedPlan {
  const { name, base, isReplacement } = plan
  const shelf = (isReplacement ? undefined : head?.shelf) ?? newId()
  return { ...plan, lease: { name, place: placeOf(name), shelf, staging: newId(), base, holder: randomUUID() } }
}
