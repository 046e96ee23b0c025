/** A load into PostgreSQL: each step is a transaction that commits only while the lease is held. */

import {
  type LoadCounts,
  type LoadSteps,
  lostLease,
  ReamLoad,
  type StagedHistory,
  type StagedReplacements,
} from '../../load.ts'
import {
  beginLoad,
  finishLoad,
  putLoadedReams,
  putLoadedTail,
  type RunningLoad,
  stageReplacements,
} from '../../load-steps.ts'
import type { SealedReam } from '../../ream.ts'
import { runAsync, type Steps } from '../../rows.ts'
import type { Head, Load, LoadOptions } from '../../store.ts'
import type { Connections } from '../server/connection.ts'
import { explained, OutcomeUnknown } from '../server/explain-error.ts'
import { Transaction } from '../server/transaction.ts'
import { KeyClaims } from './claim-keys.ts'
import { explainedWrite } from './explain-write.ts'
import { abandonLoad, commitOn, sweepName, tryTransaction, untilKnown } from './try-transaction.ts'
import type { WriterOptions } from './writer.ts'

export async function runLoad(
  connections: Connections,
  tools: WriterOptions,
  name: string,
  options: LoadOptions,
): Promise<Load> {
  const begun = tryTransaction(connections, name, (rows) => commitOn(rows, beginLoad(name, options)))
  const load = await explainedWrite(begun, tools.url, connections)
  return new ReamLoad(load, new PostgresLoadSteps(connections, load, tools))
}

class PostgresLoadSteps implements LoadSteps {
  readonly #connections: Connections
  readonly #load: RunningLoad
  readonly #tools: WriterOptions
  readonly #claims: KeyClaims
  /** How many steps are committed. */
  #steps = 0

  constructor(connections: Connections, load: RunningLoad, tools: WriterOptions) {
    this.#connections = connections
    this.#load = load
    this.#tools = tools
    this.#claims = new KeyClaims(load, (steps) => this.#underLease(steps))
  }

  claimKeys(keys: readonly string[], text: Uint8Array | undefined): Promise<readonly number[]> {
    return this.#explained(this.#claims.claim(keys, text))
  }

  putReams(reams: readonly SealedReam[]): Promise<void> {
    return this.#step(putLoadedReams(this.#load, reams))
  }

  putTail(from: number, raw: Uint8Array): Promise<void> {
    return this.#step(putLoadedTail(this.#load, from, raw))
  }

  stageReplacements(from: number, before: StagedHistory): Promise<StagedReplacements> {
    return this.#step(stageReplacements(this.#load, from, before, this.#tools.pool))
  }

  finish(loaded: Omit<LoadCounts, 'steps'>): Promise<Head> {
    const counts = { ...loaded, steps: this.#steps }
    const commit = () => finishLoad(this.#load, counts, this.#tools.pool)
    const finish = () => tryTransaction(this.#connections, this.#load.name, (rows) => commitOn(rows, commit()))
    const finished = finish().catch((error: unknown) => {
      if (!(error instanceof OutcomeUnknown)) throw error
      return untilKnown(finish)
    })
    return this.#explained(finished)
  }

  abandon(): Promise<void> {
    const { name, holder } = this.#load.lease
    return this.#explained(abandonLoad(this.#connections, name, holder))
  }

  async renew(): Promise<void> {
    const { shardKey, name, holder } = this.#load.lease
    await this.#connections.lend((rows) => rows.send('renewLease', shardKey, name, holder))
  }

  /** Here first, then what others left behind. */
  async sweep(): Promise<void> {
    await sweepName(this.#connections, this.#load.name)
    await this.#tools.sweep()
  }

  #step<T>(steps: Steps<T>): Promise<T> {
    return this.#explained(this.#underLease(steps))
  }

  #explained<T>(work: Promise<T>): Promise<T> {
    return explained(work, this.#tools.url)
  }

  /** If the lease is lost, nothing of the step stays. */
  #underLease<T>(steps: Steps<T>): Promise<T> {
    const { lease, name } = this.#load
    return this.#connections.lend((rows) =>
      Transaction.runUnseen(rows, async (transaction) => {
        const { tables } = transaction
        const [held, result] = await Promise.all([tables.holdLease(lease), runAsync(steps, tables)])
        if (held === undefined) throw lostLease(name)
        // Last, because steps that run beside this one wait for the row.
        void transaction.write('countStep', lease.shardKey, name, lease.holder)
        await transaction.commit()
        this.#steps++
        return result
      }),
    )
  }
}
