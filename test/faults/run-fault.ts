/** Does the rounds of one fault, in a directory that is gone afterwards. */

import { createRandom } from '../../bench/random.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import type { Fault, Trial } from './fault.ts'
import { Report } from './report.ts'

export interface RunOptions {
  readonly seed: number
  readonly rounds: number
  readonly onRound?: (round: number) => void
  readonly signal?: AbortSignal
}

export async function runFault({ run }: Pick<Fault, 'run'>, options: RunOptions): Promise<Report> {
  const { seed, rounds, onRound, signal } = options
  using directory = new TemporaryDirectory()
  const report = new Report()
  const trial: Trial = {
    directory: directory.path,
    rounds,
    random: createRandom(seed),
    report,
    beginRound() {
      signal?.throwIfAborted()
      report.rounds++
      onRound?.(report.rounds)
    },
  }
  await run(trial)
  return report
}
