/** What is committed besides changes: each step has a name and plain parameters, so that it can be sent to another thread. */

import type { DeflatePool } from './deflate-pool.ts'
import type { Following } from './following.ts'
import type { Cutoff } from './history.ts'
import { abandonLoad, type SweepSize, sweepAny } from './leases.ts'
import type { LoadCounts, StagedHistory } from './load.ts'
import {
  beginLoad,
  claimKeys,
  findTakenKeys,
  finishLoad,
  putLoadedReams,
  putLoadedTail,
  type RunningLoad,
  stageReplacements,
  underLease,
} from './load-steps.ts'
import type { SealedReam } from './ream.ts'
import { query, type Steps } from './rows.ts'
import type { LoadOptions, TokenRecord } from './store.ts'
import { forgetStep } from './stored-history.ts'
import { addToken, noteFollowing, revokeToken } from './stored-tokens.ts'

/** What a step needs of whoever runs it. */
export interface StepContext {
  readonly pool: DeflatePool
  readonly size: SweepSize
}

const STEPS = {
  beginLoad: (_: StepContext, name: string, options: LoadOptions) => beginLoad(name, options),
  insertKeys: (_: StepContext, load: RunningLoad, keys: readonly string[], first: number) =>
    underLease(
      load,
      query((rows) => rows.insertKeys(load.lease, keys, first)),
    ),
  findTakenKeys: (_: StepContext, load: RunningLoad, keys: readonly string[], next: number) =>
    underLease(load, findTakenKeys(load, keys, next)),
  claimKeys: (_: StepContext, load: RunningLoad, keys: readonly string[], next: number, runs: readonly Uint8Array[]) =>
    underLease(load, claimKeys(load, keys, next, runs)),
  putReams: (_: StepContext, load: RunningLoad, reams: readonly SealedReam[]) =>
    underLease(load, putLoadedReams(load, reams)),
  putTail: (_: StepContext, load: RunningLoad, from: number, raw: Uint8Array) =>
    underLease(load, putLoadedTail(load, from, raw)),
  stageReplacements: ({ pool }: StepContext, load: RunningLoad, from: number, before: StagedHistory) =>
    underLease(load, stageReplacements(load, from, before, pool)),
  finishLoad: ({ pool }: StepContext, load: RunningLoad, counts: LoadCounts) => finishLoad(load, counts, pool),
  abandonLoad: (_: StepContext, { name, lease }: RunningLoad) => abandonLoad(name, lease.holder),
  renewLoad: (_: StepContext, { lease }: RunningLoad) => query((rows) => rows.renewLease(lease, 0)),
  forgetOld: ({ size }: StepContext, name: string, cutoff?: Cutoff) => forgetStep(name, size, cutoff),
  sweep: ({ size }: StepContext) => sweepAny(size),
  addToken: (_: StepContext, token: TokenRecord) => addToken(token),
  revokeToken: (_: StepContext, name: string, at: number) => revokeToken(name, at),
  noteFollowing: (_: StepContext, name: string, following: Following | null) => noteFollowing(name, following),
}

export type StepName = keyof typeof STEPS

type ParametersOf<Name extends StepName> =
  Parameters<(typeof STEPS)[Name]> extends [StepContext, ...infer P] ? P : never
type Returned<S> = S extends Generator<unknown, infer T> ? T : never

/** Runs a step in a transaction. */
export type CommitStep = <Name extends StepName>(
  name: Name,
  ...parameters: ParametersOf<Name>
) => Promise<Returned<ReturnType<(typeof STEPS)[Name]>>>

/** A step that is yet to be run. Whoever sends it is typed: these are its parameters. */
export function stepOf(name: StepName, context: StepContext, parameters: readonly unknown[]): Steps<unknown> {
  const make = STEPS[name] as (context: StepContext, ...parameters: readonly unknown[]) => Steps<unknown>
  return make(context, ...parameters)
}
