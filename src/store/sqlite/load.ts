/** A load into an SQLite file: its steps run in the writer thread. */

import { type LoadSteps, ReamLoad } from '../load.ts'
import type { Load } from '../store.ts'
import type { LeasedPlan } from './load-steps.ts'
import type { Writer } from './writer.ts'

/** Counts the steps that are committed: in the end the store must know as many. */
export class StepCount {
  value = 0

  async add<T>(step: Promise<T>): Promise<T> {
    const result = await step
    this.value++
    return result
  }
}

export function runLoad(writer: Writer, plan: LeasedPlan): Load {
  const count = new StepCount()
  const steps: LoadSteps = {
    claimKeys: (keys, text) => count.add(writer.call('claimKeys', plan, keys, text)),
    putReams: (reams) => count.add(writer.call('putReams', plan, reams)),
    putTail: (from, raw) => count.add(writer.call('putTail', plan, from, raw)),
    stageReplacements: (from) => count.add(writer.call('stageReplacements', plan, from)),
    finish: (appended, replaced) => writer.call('finishLoad', plan, { appended, replaced, steps: count.value }),
    abandon: () => writer.call('abandonLoad', plan),
    renew: () => writer.call('renewLoad', plan),
    sweep: () => writer.sweep(),
  }
  return new ReamLoad(plan, steps)
}
