/** A load into PostgreSQL. */

import { type LoadSteps, ReamLoad } from '../load.ts'
import type { Load, LoadOptions } from '../store.ts'
import type { Connections } from './connection.ts'
import { explainError } from './explain-error.ts'
import { beginLoad } from './load-plan.ts'
import { type LoadTools, PostgresLoadSteps } from './load-steps.ts'

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
