/** Gives the keys of a load their positions, in order. Runs that wait for their turn share a transaction. */

import { splitItems } from '../../item-text.ts'
import { takenKey } from '../../load.ts'
import { type RunningLoad, stageItems } from '../../load-steps.ts'
import { query, type Steps } from '../../rows.ts'
import { KEY } from '../../tables.ts'
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

/** By the index of an item whose key is taken, the position of the one that has it. */
type Refused = ReadonlyMap<number, number>

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

  #answer(run: WaitingRun, refused: Refused): void {
    const [first] = refused
    if (first !== undefined && this.#load.onConflict === 'fail')
      run.reject(takenKey(this.#load, first[0], run.keys[first[0]], first[1]))
    else run.resolve([...refused.keys()])
  }

  /** What is refused of each run. */
  async #step(runs: readonly WaitingRun[]): Promise<Refused[]> {
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
  async #claimAll(keys: readonly string[]): Promise<Refused> {
    const next = this.#next
    try {
      await this.#commit(this.#insert(keys))
      return new Map()
    } catch (error) {
      if (stateOf(error) !== UNIQUE_VIOLATION) throw error
      this.#next = next
      return (await this.#commit(this.#find(keys))).refused
    }
  }

  #claimNew(keys: readonly string[], runs: readonly WaitingRun[]): Promise<Refused> {
    return this.#commit(this.#insertNew(keys, runs))
  }

  *#insertNew(keys: readonly string[], runs: readonly WaitingRun[]): Steps<Refused> {
    const { fresh, refused } = yield* this.#find(keys)
    if (fresh.length > 0) yield* this.#insert(fresh)
    if (this.#load.onConflict === 'replace' && refused.size > 0) {
      const texts = runs.flatMap((run) => splitItems(run.text ?? new Uint8Array(0)))
      const items = [...refused].map(([index, position]) => [position, texts[index] ?? ''] as const)
      yield* stageItems(this.#load, new Map(items))
    }
    return refused
  }

  /** The keys that are new, in order, and the others. */
  *#find(keys: readonly string[]): Steps<{ fresh: string[]; refused: Map<number, number> }> {
    const wanted = keys.map((key) => [key])
    const found = yield* query((rows) => rows.find(KEY, this.#load.lease, wanted))
    const positions = new Map<string, number>()
    for (const row of found) if (row !== undefined) positions.set(String(row[0]), Number(row[1]))
    const fresh: string[] = []
    const refused = new Map<number, number>()
    for (const [index, key] of keys.entries()) {
      const position = positions.get(key)
      if (position !== undefined) refused.set(index, position)
      else positions.set(key, this.#next + fresh.push(key) - 1)
    }
    return { fresh, refused }
  }

  *#insert(keys: readonly string[]): Steps<void> {
    const first = this.#next
    this.#next += keys.length
    yield* query((rows) => rows.insertKeys(this.#load.lease, keys, first))
  }
}
