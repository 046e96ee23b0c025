/** Gives the keys of a load their positions, in order. Runs that wait for their turn share a step. */

import { KeysTaken, takenKey } from './load.ts'
import type { RunningLoad, TakenKeys } from './load-steps.ts'
import type { CommitStep } from './steps.ts'

/** Runs in one step, at most. */
const RUNS_A_STEP = 20

interface WaitingRun {
  readonly keys: readonly string[]
  /** The items of the keys, if they may replace others. */
  readonly text: Uint8Array | undefined
  resolve(refused: readonly number[]): void
  reject(error: unknown): void
}

export class KeyClaims {
  readonly #load: RunningLoad
  readonly #commit: CommitStep
  readonly #onStep: () => void
  readonly #mostSteps: number
  readonly #waiting: WaitingRun[] = []
  #running = 0
  #next: number

  /** `stepsAhead`: how many steps the engine may get before it has done the first of them. It does them in their order. */
  constructor(load: RunningLoad, commit: CommitStep, onStep: () => void, stepsAhead: number) {
    this.#load = load
    this.#commit = commit
    this.#onStep = onStep
    this.#next = load.base
    // Otherwise a step has to know how many keys the one before it has found.
    this.#mostSteps = load.onConflict === 'fail' ? stepsAhead : 1
  }

  /** Returns the indexes of the items that get no position because their keys exist already. */
  claim(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, text, resolve, reject })
      if (this.#running < this.#mostSteps) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#running++
    while (this.#waiting.length > 0) {
      const runs = this.#waiting.splice(0, RUNS_A_STEP)
      try {
        const taken = await this.#step(runs)
        let start = 0
        for (const run of runs) {
          this.#answer(run, taken, start)
          start += run.keys.length
        }
      } catch (error) {
        for (const { reject } of runs) reject(error)
      }
    }
    this.#running--
  }

  /** The keys of the run begin at index `start` of the step. */
  #answer({ keys, resolve, reject }: WaitingRun, taken: TakenKeys, start: number): void {
    const own = [...taken].filter(([index]) => index >= start && index < start + keys.length)
    const [first] = own
    if (first !== undefined && this.#load.onConflict === 'fail')
      reject(takenKey(this.#load, first[0] - start, keys[first[0] - start], first[1]))
    else resolve(own.map(([index]) => index - start))
  }

  async #step(runs: readonly WaitingRun[]): Promise<TakenKeys> {
    const keys = runs.flatMap((run) => run.keys)
    if (this.#load.onConflict === 'fail') return this.#insertAll(keys)
    const texts = runs.flatMap(({ text }) => (text === undefined ? [] : [text]))
    const taken = await this.#commit('claimKeys', this.#load, keys, this.#next, texts)
    this.#onStep()
    this.#next += keys.length - taken.size
    return taken
  }

  /** All are expected to be new. One that is not ends the load: only then it is looked for. */
  async #insertAll(keys: readonly string[]): Promise<TakenKeys> {
    const first = this.#next
    this.#next += keys.length
    try {
      await this.#commit('insertKeys', this.#load, keys, first)
      this.#onStep()
      return new Map()
    } catch (error) {
      if (!(error instanceof KeysTaken)) throw error
      const { taken } = await this.#commit('findTakenKeys', this.#load, keys, first)
      this.#onStep()
      if (taken.size === 0) throw error
      return taken
    }
  }
}
