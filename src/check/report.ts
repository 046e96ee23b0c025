/** The report of a run, as data. Its form is stable: within a format, fields are only added. */

import type { RuleId } from './rule.ts'

/** Goes up when a field of a report is removed, or gets another meaning. */
export const REPORT_FORMAT = 1

export type RuleStatus = 'pass' | 'fail' | 'warn' | 'skip'

/** kept: no rule that decides is broken. broken: at least one is. unjudged: none is, but not all could be judged. */
export type Verdict = 'kept' | 'broken' | 'unjudged'

export interface Report {
  readonly format: typeof REPORT_FORMAT
  /** What was to be checked. */
  readonly url: string
  readonly verdict: Verdict
  /** All that were sent. */
  readonly requests: number
  /** What a reader should know about the run as a whole: what an entry point links and was left out. */
  readonly notes: readonly string[]
  /** In the order of the request; more than one for an entry point or several names. */
  readonly collections: readonly CollectionReport[]
  /** Of all collections, one after the other. */
  readonly rules: readonly RuleReport[]
  readonly summary: Readonly<Record<RuleStatus, number>>
}

export interface CollectionReport {
  readonly url: string
  /** Undefined where that could not be found out. */
  readonly paginated?: boolean
  /** As the first answer gave it. */
  readonly item_count?: number
  readonly requests: number
  /** What a reader should know beside the rules: that the data changed, that there are no pages. */
  readonly notes: readonly string[]
}

export interface RuleReport {
  readonly id: RuleId
  readonly title: string
  readonly status: RuleStatus
  /** Why, in one line: what was expected and what came, or why it was skipped. Empty for a pass. */
  readonly detail: string
  /** The `curl` line that shows it; null where no single request does. */
  readonly request: string | null
  /** The URL of the collection. */
  readonly collection: string
  /** Who is hurt; empty where nothing is wrong. */
  readonly hurts: string
  /** False where the rule applies, but could not be judged. */
  readonly judged: boolean
  /** Whether the verdict depends on it: C rules, and with `strict` all of them. */
  readonly decides: boolean
  /** Everything that was found. */
  readonly findings: readonly FindingReport[]
}

export interface FindingReport {
  readonly request: string
  readonly expected: string
  readonly came: string
}
