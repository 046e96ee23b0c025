/** A load into an SQLite file: its steps run in the writer thread. */

import { type LoadSteps, ReamLoad } from '../load.ts'
import type { Load } from '../store.ts'
import type { LeasedPlan } from './steps.ts'
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
    claimKeys: (keys, text) => count.add(writer.step('claimKeys', plan, keys, text)),
    putReams: (reams) => count.add(writer.step('putReams', plan, reams)),
    putTail: (from, raw) => count.add(writer.step('putTail', plan, from, raw)),
    stageReplacements: (from) => count.add(writer.step('stageReplacements', plan, from)),
    finish: (appended, replaced) => writer.step('finishLoad', plan, { appended, replaced, steps: count.value }),
    abandon: () => writer.step('abandonLoad', plan),
    renew: () => writer.step('renewLoad', plan),
    sweep: () => writer.sweep(),
  }
  return new ReamLoad(plan, steps)
}
