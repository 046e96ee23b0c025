/** What a fault is: how it is done, how often, and what it needs of the machine. */

import { createRandom, type Random } from '../../bench/random.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { PostgresCluster } from '../store/postgres-cluster.ts'
import type { Need } from './needs.ts'
import { Report } from './report.ts'

/** Where stores can be made, each in a schema of its own. */
export type StoreServer = Pick<PostgresCluster, 'port' | 'newSchema' | 'storeIn' | 'connect'>

export interface Trial {
  /** An empty one, for everything that the fault makes. */
  readonly directory: string
  readonly rounds: number
  readonly random: Random
  readonly report: Report
  /** A PostgreSQL that runs, or a Citus, for whoever needs one. */
  readonly postgres: () => Promise<StoreServer>
  /** One that can be ended, and is gone afterwards. */
  readonly ownPostgres: () => Promise<PostgresCluster>
  /** To be called at the beginning of each round; throws when the run is interrupted. */
  readonly beginRound: () => void
}

export interface Fault {
  readonly name: string
  readonly description: string
  /** Rounds of a full run. */
  readonly rounds: number
  /** Rounds within `npm test`. */
  readonly fewRounds: number
  readonly needs: readonly Need[]
  /** The longest that the server may take to be ready again; undefined: any time. */
  readonly mostRecoveryMs?: number
  /** Does the rounds. What is wrong goes into the report; only what makes the rest pointless is thrown. */
  run(trial: Trial): Promise<void>
}

export interface RunOptions {
  readonly seed: number
  readonly rounds: number
  readonly onRound?: (round: number) => void
  readonly onFinding?: (text: string) => void
  readonly signal?: AbortSignal
  /** Default: one is made if the fault needs it, and removed at the end. */
  readonly postgres?: PostgresCluster
}

export async function runFault({ run }: Pick<Fault, 'run'>, options: RunOptions): Promise<Report> {
  const { seed, rounds, onRound, onFinding, signal, postgres } = options
  using directory = new TemporaryDirectory()
  await using resources = new AsyncDisposableStack()
  const report = new Report()
  if (onFinding !== undefined) report.findings.onFinding = (text) => onFinding(`round ${report.rounds}, ${text}`)
  const ownPostgres = async () => postgres ?? resources.use(await PostgresCluster.create(directory.path))
  const trial: Trial = {
    directory: directory.path,
    rounds,
    random: createRandom(seed),
    report,
    postgres: ownPostgres,
    ownPostgres,
    beginRound() {
      signal?.throwIfAborted()
      report.rounds++
      onRound?.(report.rounds)
    },
  }
  await run(trial)
  return report
}
