/** A load into PostgreSQL. */

import { randomUUID } from 'node:crypto'
import { checkName, newId } from '../../collection-rules.ts'
import { type LoadPlan, type LoadSteps, planLoad, ReamLoad } from '../../load.ts'
import type { Load, LoadOptions } from '../../store.ts'
import { lockHead, type StoredHead, shardKeyOf, shownHead, writeHead } from '../rows/head.ts'
import type { Connections } from '../server/connection.ts'
import { explainError, TryAgain } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { findObstacle, type LeasedPlan, takeLease } from './lease.ts'
import { type LoadTools, PostgresLoadSteps } from './load-steps.ts'
import { tryTransaction } from './try-transaction.ts'

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
  const generationId = (isReplacement ? undefined : head?.generationId) ?? newId()
  return {
    ...plan,
    lease: { name, shardKey: shardKeyOf(name), generationId, staging: newId(), base, holder: randomUUID() },
  }
}

export async function runLoad(
  connections: Connections,
  tools: LoadTools,
  name: string,
  options: LoadOptions,
): Promise<Load> {
  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw explainError(error, tools.url)
    }
  }
  const plan = await explained(beginLoad(connections, name, options))
  const steps = new PostgresLoadSteps(connections, plan, tools)
  const explainedSteps: LoadSteps = {
    claimKeys: (keys, text) => explained(steps.claimKeys(keys, text)),
    putReams: (reams) => explained(steps.putReams(reams)),
    putTail: (from, raw) => explained(steps.putTail(from, raw)),
    stageReplacements: (from) => explained(steps.stageReplacements(from)),
    finish: (appended, replaced) => explained(steps.finish(appended, replaced)),
    abandon: () => explained(steps.abandon()),
    renew: () => explained(steps.renew()),
    sweep: () => explained(steps.sweep()),
  }
  return new ReamLoad(plan, explainedSteps)
}
