/** Clients that come whether or not the server keeps up, seen from the bench. */

import { nodeProgram, runProgram } from './child-process.ts'
import { untilAnswered } from './until-answered.ts'

export interface ArrivalPlan {
  /** The URL of the collection whose pages they ask for, at random. */
  readonly url: string
  readonly pages: number
  readonly durationMs: number
  /** So many wait at most: who finds them waiting goes away. */
  readonly mostWaiting: number
  /** So many come, whatever happens. Undefined: the next one comes when one has been answered. */
  readonly requestsASecond?: number
}

/** Without the first quarter of the time, in which they warm up. */
export interface ArrivalResult {
  readonly answersASecond: number
  /** How long they waited in the second quarter of the time, and in the last, on average: as long as the queue is. */
  readonly secondQuarterMs: number
  readonly lastQuarterMs: number
  /** Over all that waited; one that had no answer counts as long as it was ready to wait. */
  readonly p99Ms: number
  /** They found too many waiting; their connection was closed; the answer was not 200; none came in time. */
  readonly turnedAway: number
  readonly cutOff: number
  readonly refused: number
  readonly gaveUp: number
  /** What the clients themselves took of the machine's cores, 1 being all of one. */
  readonly cores: number
}

const ARRIVAL_LOAD = nodeProgram('./arrival-load.ts')

export async function runArrivals(plan: ArrivalPlan, signal: AbortSignal): Promise<ArrivalResult> {
  const { stdout } = await runProgram(ARRIVAL_LOAD, [JSON.stringify(plan)], signal)
  // Those who still waited at the end are gone now, and must not disturb the next ones.
  await untilAnswered(plan.url, signal)
  return JSON.parse(stdout)
}
