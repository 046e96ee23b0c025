/** The report of a run, as data. Its form is stable: within a format, fields are only added. */

import { curlLine } from './http/response.ts'
import type { Finding, Rule, RuleCheck, RuleId } from './rule.ts'

/** Goes up when a field of a report is removed, or gets another meaning. */
export const REPORT_FORMAT = 2

export type RuleStatus = 'pass' | 'fail' | 'warn' | 'skip'

/** passed: every rule that decides passed. failed: at least one failed. undecided: none failed, but not all could be judged. */
export type Verdict = 'passed' | 'failed' | 'undecided'

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
  /** Why, in one line: what was expected and what the server sent, or why it was skipped. Empty for a pass. */
  readonly detail: string
  /** The `curl` line that shows it; null where no single request does. */
  readonly request: string | null
  /** The URL of the collection. */
  readonly collection: string
  /** Who is affected; empty if nothing is wrong. */
  readonly affects: string
  /** False if the rule applies but could not be judged; `detail` then says why. */
  readonly judged: boolean
  /** Whether the verdict depends on it: C rules, and with `strict` all of them. */
  readonly decides: boolean
  /** Everything that was found. */
  readonly findings: readonly FindingReport[]
}

export interface FindingReport {
  readonly request: string
  readonly expected: string
  readonly got: string
}

export interface ReportContext {
  /** The URL of the collection. */
  readonly url: string
  readonly isStrict: boolean
  readonly hasToken: boolean
}

/** `check` is undefined for a rule that was not tried. */
export function ruleReport(
  rule: Rule,
  check: RuleCheck | undefined,
  untriedReason: string,
  context: ReportContext,
): RuleReport {
  const obstacle = check === undefined ? untriedReason : check.obstacle
  const decides = rule.id.startsWith('C') || context.isStrict
  const found = (check?.findings ?? []).filter((finding) => obstacle === undefined || isCertain(finding))
  const skipReason = obstacle === undefined ? check?.skipReason : obstacle
  const status = statusOf(found, decides, skipReason)
  const findings = found.map(({ request, expected, got }) => ({
    request: curlLine(request, context.hasToken),
    expected,
    got,
  }))
  const [first] = findings
  const detail = first === undefined ? (skipReason ?? '') : `expected ${first.expected}; got ${first.got}`
  return {
    id: rule.id,
    title: rule.title,
    status,
    detail,
    request: first?.request ?? null,
    collection: context.url,
    affects: first === undefined ? '' : rule.affects,
    judged: status !== 'skip' || obstacle === undefined,
    decides,
    findings,
  }
}

function statusOf(findings: readonly Finding[], decides: boolean, skipReason: string | undefined): RuleStatus {
  if (findings.some(({ isDoubt }) => !isDoubt)) return decides ? 'fail' : 'warn'
  if (findings.length > 0) return 'warn'
  return skipReason === undefined ? 'pass' : 'skip'
}

/** One response alone shows it, whatever became of the data. */
function isCertain({ isComparison }: Finding): boolean {
  return !isComparison
}

/** Whether a change of the data would explain all that was found. */
export function isExcusable({ findings }: RuleCheck): boolean {
  return findings.length > 0 && !findings.some(isCertain)
}
