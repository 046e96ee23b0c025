/** What came out of the rounds of one fault. */

import { median } from '../../bench/measure.ts'
import { formatCount, formatDuration } from '../../src/cli/figures.ts'
import { Findings } from './findings.ts'

export class Report {
  readonly findings = new Findings()
  /** From the start of the process, or of its database, until requests were answered. */
  readonly recoveriesMs: number[] = []
  acknowledged = 0
  rounds = 0
  /** What else is worth knowing, in words. */
  readonly notes: string[] = []

  get slowestRecoveryMs(): number {
    return Math.max(0, ...this.recoveriesMs)
  }

  /** Numbers in the order of `COLUMNS`, without name and seed. */
  cells(): string[] {
    const { lost, doubled, partial, foreign, other } = this.findings.counts
    const recovery =
      this.recoveriesMs.length === 0
        ? '–'
        : `${formatDuration(median(this.recoveriesMs))}, at most ${formatDuration(this.slowestRecoveryMs)}`
    return [this.rounds, this.acknowledged, lost, doubled, partial, foreign + other].map(formatCount).concat(recovery)
  }
}

export const COLUMNS = [
  'fault',
  'seed',
  'rounds',
  'acknowledged',
  'lost',
  'doubled',
  'partial',
  'otherwise wrong',
  'recovery',
]
