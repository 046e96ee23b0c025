/** Transactions that are tried again, and the sweep of what nobody can see. */

import { setTimeout as sleep } from 'node:timers/promises'
import { abandonLoad as abandon, FULL_STEP, leftoverShards, SweepNeeded, sweepStep } from '../../leases.ts'
import { runAsync, type Steps } from '../../rows.ts'
import { StoreError } from '../../store-error.ts'
import { shardKeyOf } from '../rows/head.ts'
import type { Rows } from '../rows/rows.ts'
import type { Connections } from '../server/connection.ts'
import { canTryAgain, isRetry, OutcomeUnknown } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'

/** Removes everything that is left over, of all collections, in many small commits. */
export async function sweepAll(connections: Connections): Promise<void> {
  for (const { name, isDead } of await connections.lend((rows) => rows.tables.findLeases()))
    if (isDead) await abandonLoad(connections, name)
  for (const shardKey of await connections.lend((rows) => runAsync(leftoverShards(), rows.tables)))
    await sweepShard(connections, shardKey)
}

/** Removes what is in the way of writes to a name. */
export async function sweepName(connections: Connections, name: string): Promise<void> {
  await abandonLoad(connections, name)
  await sweepShard(connections, shardKeyOf(name))
}

/** Ends a load that died. */
function abandonLoad(connections: Connections, name: string): Promise<void> {
  return commitSteps(connections, abandon(name))
}

async function sweepShard(connections: Connections, shardKey: number): Promise<void> {
  while (await commitSteps(connections, sweepStep(shardKey, FULL_STEP)));
}

/** Runs steps in a transaction of their own. */
export function commitSteps<T>(connections: Connections, steps: Steps<T>): Promise<T> {
  return connections.lend((rows) => commitOn(rows, steps))
}

export function commitOn<T>(rows: Rows, steps: Steps<T>): Promise<T> {
  return Transaction.run(rows, async (transaction) => {
    const result = await runAsync(steps, transaction.tables)
    await transaction.commit()
    return result
  })
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
      if (isRetry(error) && detours++ < MAX_DETOURS) {
        if (error instanceof SweepNeeded) await sweepName(connections, name)
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
