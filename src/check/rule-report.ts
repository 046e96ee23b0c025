/** Puts what a rule found into the report. */

import { curlLine } from './ask.ts'
import type { RuleReport, RuleStatus } from './report.ts'
import type { Finding, Rule } from './rule.ts'
import type { Trial } from './trial.ts'

/** How it went with one rule. */
export interface Outcome {
  readonly trial: Trial | undefined
  /** Why the rule could not be judged. */
  readonly obstacle: string | undefined
}

export interface ReportContext {
  /** The URL of the collection. */
  readonly url: string
  readonly isStrict: boolean
  readonly hasToken: boolean
}

export function ruleReport(rule: Rule, { trial, ...outcome }: Outcome, context: ReportContext): RuleReport {
  const obstacle = outcome.obstacle ?? trial?.obstacle
  const { url, isStrict, hasToken } = context
  const decides = rule.id.startsWith('C') || isStrict
  const found = (trial?.findings ?? []).filter((finding) => obstacle === undefined || isCertain(finding))
  const status = statusOf(found, decides, obstacle ?? trial?.skipReason)
  const findings = found.map(({ ask, expected, came }) => ({ request: curlLine(ask, hasToken), expected, came }))
  const [first] = findings
  const skipReason = obstacle === undefined ? (trial?.skipReason ?? '') : `not judged: ${obstacle}`
  return {
    id: rule.id,
    title: rule.title,
    status,
    detail:
      first === undefined ? (status === 'skip' ? skipReason : '') : `expected ${first.expected}; came ${first.came}`,
    request: first?.request ?? null,
    collection: url,
    hurts: first === undefined ? '' : rule.hurts,
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

/** One answer alone shows it, whatever became of the data. */
export function isCertain({ isComparison }: Finding): boolean {
  return !isComparison
}

/** Whether a change of the data would explain all that was found. */
export function isExcusable(outcome: Outcome | undefined): boolean {
  const findings = outcome?.trial?.findings ?? []
  return findings.length > 0 && !findings.some(isCertain)
}
