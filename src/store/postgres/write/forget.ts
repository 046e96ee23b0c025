/** Removes what is no longer kept of the history of collections, in small steps. */

import type { StoreActivity } from '../../activity.ts'
import { type Cutoff, forgetAllOf } from '../../history.ts'
import { FULL_STEP } from '../../leases.ts'
import { runAsync } from '../../rows.ts'
import { StoreError } from '../../store-error.ts'
import { forgetExpired, forgetStep } from '../../stored-history.ts'
import { readAllHeads } from '../rows/head.ts'
import type { Connections } from '../server/connection.ts'
import { commitSteps, sweepName } from './try-transaction.ts'

/** Of all collections. */
export async function forgetAll(connections: Connections, activity: StoreActivity, limitBytes: number): Promise<void> {
  await forgetExpired(await connections.lend((rows) => readAllHeads(rows)), {
    run: (steps) => connections.lend((rows) => runAsync(steps, rows.tables)),
    forget: (name, cutoff) => forgetName(connections, name, activity, cutoff),
    mayGoOn: (error) => error instanceof StoreError && error.code === 'corrupt',
    limitBytes,
    onNotice: activity.onNotice,
  })
}

export async function forgetName(
  connections: Connections,
  name: string,
  activity: StoreActivity,
  cutoff?: Cutoff,
): Promise<void> {
  await forgetAllOf(() => commitSteps(connections, forgetStep(name, FULL_STEP, cutoff)), activity)
  await sweepName(connections, name)
}
