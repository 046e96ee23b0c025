/** Removes what is no longer kept of the history of collections, in small steps. */

import type { StoreActivity } from '../../activity.ts'
import { type Cutoff, forgetAllOf } from '../../history.ts'
import { type HistoryEnds, limitHistory } from '../../history-limit.ts'
import { runAsync, type Steps } from '../../rows.ts'
import { StoreError } from '../../store-error.ts'
import { forgetStep, isHistoryOld, readHistoryEnds, readStates } from '../../stored-history.ts'
import type { StoredHead } from '../../tables.ts'
import { readAllHeads } from '../rows/head.ts'
import type { Connections } from '../server/connection.ts'
import { commitSteps, STEP, sweepName } from './try-transaction.ts'

/** Of all collections. One that is damaged keeps nobody from removing the rest. */
export async function forgetAll(connections: Connections, activity: StoreActivity, limitBytes: number): Promise<void> {
  const run = <T>(steps: Steps<T>): Promise<T> => connections.lend((rows) => runAsync(steps, rows.tables))
  const ends: HistoryEnds<StoredHead>[] = []
  for (const head of await connections.lend((rows) => readAllHeads(rows)))
    try {
      if (await run(isHistoryOld(head))) await forgetName(connections, head.name, activity)
      ends.push(...(await run(readHistoryEnds(head))))
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'corrupt') throw error
    }
  await limitHistory(ends, {
    limitBytes,
    readStates: (head, from, most) => run(readStates(head, from, most)),
    forget: ({ name }, cutoff) => forgetName(connections, name, activity, cutoff),
    onNotice: activity.onNotice,
  })
}

export async function forgetName(
  connections: Connections,
  name: string,
  activity: StoreActivity,
  cutoff?: Cutoff,
): Promise<void> {
  await forgetAllOf(() => commitSteps(connections, forgetStep(name, STEP, cutoff)), activity)
  await sweepName(connections, name)
}
