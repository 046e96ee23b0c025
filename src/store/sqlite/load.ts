/** A load into an SQLite file: its steps run in the writer thread. */

import { type LoadSteps, ReamLoad } from '../load.ts'
import type { Load } from '../store.ts'
import type { LeasedPlan } from './load-steps.ts'
import type { Writer } from './writer.ts'

export function runLoad(writer: Writer, plan: LeasedPlan): Load {
  const steps: LoadSteps = {
    claimKeys: (keys, text) => writer.call('claimKeys', plan, keys, text),
    putReams: (reams) => writer.call('putReams', plan, reams),
    putTail: (from, raw) => writer.call('putTail', plan, from, raw),
    stageReplacements: (from) => writer.call('stageReplacements', plan, from),
    finish: (appended, replaced) => writer.call('finishLoad', plan, appended, replaced),
    abandon: () => writer.call('abandonLoad', plan),
    renew: () => writer.call('renewLoad', plan),
    sweep: () => writer.sweep(),
  }
  return new ReamLoad(plan, steps)
}
