/** Several servers under the same load in turn: the median rate and p99 of each. */

import { inTurn, median } from './measure.ts'
import { type ReadPlan, type ReadRate, readRate } from './read-load.ts'
import type { Workspace } from './workspace.ts'

/** A server gets faster for about five seconds under load, until its compiler is done. */
const WARM_UP_SECONDS = 6

/** Each after a round that does not count, but for those that take longer than usual. All at once where figures do not matter. */
export async function compareRates<Name extends string>(
  workspace: Workspace,
  plans: Readonly<Record<Name, ReadPlan>>,
): Promise<Record<Name, ReadRate>> {
  const sides = (Object.entries(plans) as [Name, ReadPlan][]).map(([name, plan]) => ({
    name,
    plan,
    rates: [] as ReadRate[],
  }))
  if (workspace.isTryOut)
    await Promise.all(sides.map(async ({ plan, rates }) => rates.push(await readRate(workspace, plan))))
  else
    await inTurn(workspace.rounds + 1, sides, async ({ plan, rates }, round) => {
      if (round > 0) rates.push(await readRate(workspace, plan))
      else if (plan.seconds === undefined) await readRate(workspace, { ...plan, seconds: WARM_UP_SECONDS })
    })
  return Object.fromEntries(sides.map(({ name, rates }) => [name, medianOf(rates)])) as Record<Name, ReadRate>
}

function medianOf(rates: readonly ReadRate[]): ReadRate {
  return {
    requestsASecond: median(rates.map(({ requestsASecond }) => requestsASecond)),
    p99Ms: median(rates.map(({ p99Ms }) => p99Ms)),
  }
}
