/** Runs the steps of loads and other small writes, each as a transaction that fits it. */

import { stateOf } from '../../../postgres/postgres-error.ts'
import { FULL_STEP } from '../../leases.ts'
import { KeysTaken } from '../../load.ts'
import { runAsync, type Steps } from '../../rows.ts'
import { type CommitStep, type StepName, stepOf } from '../../steps.ts'
import type { Connections } from '../server/connection.ts'
import { explained, OutcomeUnknown } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { explainedWrite } from './explain-write.ts'
import { commitOn, tryTransaction, untilKnown } from './try-transaction.ts'
import type { WriterOptions } from './writer.ts'

const UNIQUE_VIOLATION = '23505'

/** What nobody sees before the load ends. */
const UNSEEN: ReadonlySet<StepName> = new Set([
  ...(['insertKeys', 'findTakenKeys', 'claimKeys'] as const),
  ...(['putReams', 'putTail', 'stageReplacements'] as const),
])

export function stepsOn(connections: Connections, name: string, { url, pool }: WriterOptions): CommitStep {
  const commit = (step: StepName, parameters: readonly unknown[]): Promise<unknown> => {
    const begin = () => stepOf(step, { pool, size: FULL_STEP }, parameters)
    if (UNSEEN.has(step)) return explained(commitUnseen(connections, begin()), url)
    const work = () => tryTransaction(connections, name, (rows) => commitOn(rows, begin()))
    if (step !== 'finishLoad') return explainedWrite(work(), url, connections)
    const finished = work().catch((error: unknown) => {
      if (!(error instanceof OutcomeUnknown)) throw error
      return untilKnown(work)
    })
    return explained(finished, url)
  }
  return ((step, ...parameters) => commit(step, parameters)) as CommitStep
}

async function commitUnseen<T>(connections: Connections, steps: Steps<T>): Promise<T> {
  try {
    return await connections.lend((rows) =>
      Transaction.runUnseen(rows, async (transaction) => {
        const result = await runAsync(steps, transaction.tables)
        await transaction.commit()
        return result
      }),
    )
  } catch (error) {
    throw stateOf(error) === UNIQUE_VIOLATION ? new KeysTaken('A key exists.', { cause: error }) : error
  }
}
