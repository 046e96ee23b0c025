/** What came out of the rounds of one fault. */

import { median } from '../../bench/measure.ts'
import { formatDuration } from '../../src/cli/output.ts'
import { formatCount } from '../../src/contract/message-text.ts'

export class Report {
  readonly findings = new Findings()
  /** From the start of the process, or of its database, until requests were answered. */
  readonly recoveriesMs: number[] = []
  /** What has to be there afterwards: writes that were acknowledged; of a pull, the items. */
  checked = 0
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
    return [this.rounds, this.checked, lost, doubled, partial, foreign + other].map(formatCount).concat(recovery)
  }
}

export const COLUMNS = 'fault|seed|rounds|checked|lost|doubled|partial|otherwise wrong|recovery'.split('|')

export type FindingKind = 'lost' | 'doubled' | 'partial' | 'foreign' | 'other'

/** More of them do not make a failure clearer. */
const MAX_MESSAGES = 20
const MAX_CHARACTERS = 300

export class Findings {
  readonly counts: Record<FindingKind, number> = { lost: 0, doubled: 0, partial: 0, foreign: 0, other: 0 }
  readonly #all = new Set<string>()
  /** Told of each at once: a long run need not end for that. */
  onFinding: (text: string) => void = () => {}

  /** The same again, as after the next round, counts once. */
  add(kind: FindingKind, message: string): void {
    const text = `${kind}: ${message}`
    if (this.#all.has(text)) return
    this.counts[kind]++
    this.#all.add(text)
    if (this.#all.size <= MAX_MESSAGES) this.onFinding(text.slice(0, MAX_CHARACTERS))
  }

  get total(): number {
    return this.#all.size
  }

  /** The first ones, in words. */
  get messages(): string[] {
    return [...this.#all].slice(0, MAX_MESSAGES).map((text) => text.slice(0, MAX_CHARACTERS))
  }
}
