/** A load as steps that an engine commits one by one. */

import { KeyClaims } from './key-claims.ts'
import { type LoadCounts, type LoadSteps, ReamLoad, type StagedHistory, type StagedReplacements } from './load.ts'
import type { RunningLoad } from './load-steps.ts'
import type { SealedReam } from './ream.ts'
import type { CommitStep } from './steps.ts'
import type { Head, Load, LoadOptions } from './store.ts'

/** `sweep` removes what is left over, here and elsewhere. `stepsAhead`: see `KeyClaims`. */
export async function runLoad(
  commit: CommitStep,
  name: string,
  options: LoadOptions,
  sweep: () => Promise<void>,
  stepsAhead = 1,
): Promise<Load> {
  const load = await commit('beginLoad', name, options)
  return new ReamLoad(load, new CommittedSteps(load, commit, sweep, stepsAhead))
}

class CommittedSteps implements LoadSteps {
  readonly #load: RunningLoad
  readonly #commit: CommitStep
  readonly #claims: KeyClaims
  readonly sweep: () => Promise<void>
  /** How many steps are committed: in the end the store must know as many. */
  #steps = 0

  constructor(load: RunningLoad, commit: CommitStep, sweep: () => Promise<void>, stepsAhead: number) {
    this.#load = load
    this.#commit = commit
    this.sweep = sweep
    this.#claims = new KeyClaims(load, commit, () => this.#steps++, stepsAhead)
  }

  claimKeys(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return this.#claims.claim(keys, text)
  }

  putReams(reams: readonly SealedReam[]): Promise<void> {
    return this.#counted(this.#commit('putReams', this.#load, reams))
  }

  putTail(from: number, raw: Uint8Array): Promise<void> {
    return this.#counted(this.#commit('putTail', this.#load, from, raw))
  }

  stageReplacements(from: number, before: StagedHistory): Promise<StagedReplacements> {
    return this.#counted(this.#commit('stageReplacements', this.#load, from, before))
  }

  finish(counts: Omit<LoadCounts, 'steps'>): Promise<Head> {
    return this.#commit('finishLoad', this.#load, { ...counts, steps: this.#steps })
  }

  abandon(): Promise<void> {
    return this.#commit('abandonLoad', this.#load)
  }

  renew(): Promise<void> {
    return this.#commit('renewLoad', this.#load)
  }

  async #counted<T>(step: Promise<T>): Promise<T> {
    const result = await step
    this.#steps++
    return result
  }
}
