/** Does the rounds of one fault, in a directory that is gone afterwards. */

import { createRandom } from '../../bench/random.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { PostgresCluster } from '../store/postgres-cluster.ts'
import type { Fault, Trial } from './fault.ts'
import { Report } from './report.ts'

export interface RunOptions {
  readonly seed: number
  readonly rounds: number
  readonly onRound?: (round: number) => void
  readonly signal?: AbortSignal
  /** Default: one is made if the fault needs it, and removed at the end. */
  readonly postgres?: PostgresCluster
}

export async function runFault({ run }: Pick<Fault, 'run'>, options: RunOptions): Promise<Report> {
  const { seed, rounds, onRound, signal, postgres } = options
  using directory = new TemporaryDirectory()
  await using resources = new AsyncDisposableStack()
  const report = new Report()
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
