/** Gives the keys of a load their positions, in order. Runs that wait for their turn share a transaction. */

import { splitItems } from '../../item-text.ts'
import { type LeasedPlan, takenKey } from '../../load.ts'
import { keyBytes } from '../rows/stored-ream.ts'
import { stateOf } from '../server/explain-error.ts'
import type { Transaction } from '../server/transaction.ts'
import type { Lease } from './lease.ts'

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

type Transact = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>

export class KeyClaims {
  readonly #plan: LeasedPlan<Lease>
  readonly #transact: Transact
  readonly #waiting: WaitingRun[] = []
  #isRunning = false
  #next: number

  /** `transact` runs its work under the lease of the load and commits it. */
  constructor(plan: LeasedPlan<Lease>, transact: Transact) {
    this.#plan = plan
    this.#transact = transact
    this.#next = plan.base
  }

  /** Answers with the indexes of the items that get no position because their key is there already. */
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
    if (first !== undefined && this.#plan.onConflict === 'fail')
      run.reject(takenKey(this.#plan, first[0], run.keys[first[0]], first[1]))
    else run.resolve([...refused.keys()])
  }

  /** What is refused of each run. */
  async #step(runs: readonly WaitingRun[]): Promise<Refused[]> {
    const keys = runs.flatMap((run) => run.keys)
    const refused = this.#plan.onConflict === 'fail' ? await this.#claimAll(keys) : await this.#claimNew(keys, runs)
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
      await this.#transact(async (transaction) => this.#insert(transaction, keys))
      return new Map()
    } catch (error) {
      if (stateOf(error) !== UNIQUE_VIOLATION) throw error
      this.#next = next
      return this.#transact(async (transaction) => (await this.#lookUp(transaction, keys)).refused)
    }
  }

  async #claimNew(keys: readonly string[], runs: readonly WaitingRun[]): Promise<Refused> {
    return this.#transact(async (transaction) => {
      const { fresh, refused } = await this.#lookUp(transaction, keys)
      if (fresh.length > 0) this.#insert(transaction, fresh)
      if (this.#plan.onConflict === 'replace' && refused.size > 0) {
        const texts = runs.flatMap((run) => splitItems(run.text ?? new Uint8Array(0)))
        const kept = [...refused].map(([index, position]) => [position, texts[index] ?? ''] as const)
        this.#keepReplacements(transaction, new Map(kept))
      }
      return refused
    })
  }

  /** The keys that are new, in order, and the others. */
  async #lookUp(transaction: Transaction, keys: readonly string[]) {
    const { shardKey, generationId } = this.#plan.lease
    const found = await transaction.all('readPositions', shardKey, generationId, keys.map(keyBytes))
    const positions = new Map(found.map(([number, position]) => [keys[Number(number) - 1] ?? '', Number(position)]))
    const fresh: string[] = []
    const refused = new Map<number, number>()
    for (const [index, key] of keys.entries()) {
      const position = positions.get(key)
      if (position !== undefined) refused.set(index, position)
      else positions.set(key, this.#next + fresh.push(key) - 1)
    }
    return { fresh, refused }
  }

  #insert(transaction: Transaction, keys: readonly string[]): void {
    const { shardKey, name, holder } = this.#plan.lease
    void transaction.write('loadKeys', shardKey, name, holder, this.#next, keys.map(keyBytes))
    this.#next += keys.length
  }

  /** Replacements are kept aside until the load ends: nobody may see them before. Of two for an item the last counts. */
  #keepReplacements(transaction: Transaction, texts: ReadonlyMap<number, string>): void {
    const { shardKey, name, holder, staging } = this.#plan.lease
    const items = [...texts.values()].map((text) => Buffer.from(text))
    void transaction.write('loadTail', shardKey, name, holder, staging, [...texts.keys()], items)
  }
}
