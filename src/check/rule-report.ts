/** Turns what was found about a rule into its report. */

import { curlLine } from './http/request.ts'
import type { RuleReport, RuleStatus } from './report.ts'
import type { Finding, Rule, RuleCheck } from './rule.ts'

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
  const skipReason = obstacle === undefined ? check?.skipReason : `not judged: ${obstacle}`
  const status = statusOf(found, decides, skipReason)
  const findings = found.map(({ request, expected, came }) => ({
    request: curlLine(request, context.hasToken),
    expected,
    came,
  }))
  const [first] = findings
  const detail = first === undefined ? (skipReason ?? '') : `expected ${first.expected}; came ${first.came}`
  return {
    id: rule.id,
    title: rule.title,
    status,
    detail,
    request: first?.request ?? null,
    collection: context.url,
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

/** One response alone shows it, whatever became of the data. */
function isCertain({ isComparison }: Finding): boolean {
  return !isComparison
}

/** Whether a change of the data would explain all that was found. */
export function isExcusable({ findings }: RuleCheck): boolean {
  return findings.length > 0 && !findings.some(isCertain)
}
