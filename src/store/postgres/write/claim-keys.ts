/** Gives the keys of a load their positions, in order. Runs that wait for their turn share a transaction. */

import { splitItems } from '../../item-text.ts'
import { takenKey } from '../../load.ts'
import { claimKeys, findTakenKeys, type RunningLoad, type TakenKeys } from '../../load-steps.ts'
import { query, type Steps } from '../../rows.ts'
import { stateOf } from '../server/explain-error.ts'

const UNIQUE_VIOLATION = '23505'

/** Runs in one transaction, at most. */
const RUNS_A_STEP = 20

interface WaitingRun {
  readonly keys: readonly string[]
  /** The items of the keys, if they may replace others. */
  readonly text: Uint8Array | undefined
  resolve(refused: readonly number[]): void
  reject(error: unknown): void
}

type Commit = <T>(steps: Steps<T>) => Promise<T>

export class KeyClaims {
  readonly #load: RunningLoad
  readonly #commit: Commit
  readonly #waiting: WaitingRun[] = []
  #isRunning = false
  #next: number

  /** `commit` runs its steps under the lease of the load. */
  constructor(load: RunningLoad, commit: Commit) {
    this.#load = load
    this.#commit = commit
    this.#next = load.base
  }

  /** Returns the indexes of the items that get no position because their keys exist already. */
  claim(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, text, resolve, reject })
      if (!this.#isRunning) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      const runs = this.#waiting.splice(0, RUNS_A_STEP)
      try {
        const refused = await this.#step(runs)
        for (const [index, run] of runs.entries()) this.#answer(run, refused[index] ?? new Map())
      } catch (error) {
        for (const { reject } of runs) reject(error)
      }
    }
    this.#isRunning = false
  }

  #answer(run: WaitingRun, refused: TakenKeys): void {
    const [first] = refused
    if (first !== undefined && this.#load.onConflict === 'fail')
      run.reject(takenKey(this.#load, first[0], run.keys[first[0]], first[1]))
    else run.resolve([...refused.keys()])
  }

  /** What is refused of each run. */
  async #step(runs: readonly WaitingRun[]): Promise<TakenKeys[]> {
    const keys = runs.flatMap((run) => run.keys)
    const refused = this.#load.onConflict === 'fail' ? await this.#claimAll(keys) : await this.#claimNew(keys, runs)
    let start = 0
    return runs.map((run) => {
      const from = start
      start += run.keys.length
      const ofRun = [...refused].filter(([index]) => index >= from && index < start)
      return new Map(ofRun.map(([index, position]) => [index - from, position]))
    })
  }

  /** All are expected to be new. One that is not ends the load: only then it is looked for. */
  async #claimAll(keys: readonly string[]): Promise<TakenKeys> {
    try {
      await this.#commit(query((rows) => rows.insertKeys(this.#load.lease, keys, this.#next)))
      this.#next += keys.length
      return new Map()
    } catch (error) {
      if (stateOf(error) !== UNIQUE_VIOLATION) throw error
      return (await this.#commit(findTakenKeys(this.#load, keys, this.#next))).taken
    }
  }

  async #claimNew(keys: readonly string[], runs: readonly WaitingRun[]): Promise<TakenKeys> {
    const readTexts = () => runs.flatMap((run) => splitItems(run.text ?? new Uint8Array(0)))
    const taken = await this.#commit(claimKeys(this.#load, keys, this.#next, readTexts))
    this.#next += keys.length - taken.size
    return taken
  }
}
