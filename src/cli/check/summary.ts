/** The verdict of a check in one line. */

import type { Report, RuleReport, RuleStatus } from '../../check/index.ts'
import { formatCount, formatDuration } from '../figures.ts'

/** More ids than this say nothing any more. */
const IDS_SHOWN = 10

/** `Broken: 2 rules fail (C2, C5), 20 pass, 5 are skipped; 43 requests in 0.2 s.` */
export function summaryLine(report: Report, durationMs: number): string {
  const { collections, verdict, requests } = report
  const where = collections.length === 1 ? '' : `, in ${formatCount(collections.length)} collections`
  const effort = `${formatCount(requests)} ${requests === 1 ? 'request' : 'requests'} in ${formatDuration(durationMs)}`
  if (collections.length === 0) return `${HEADLINES[verdict]}: there is no collection to check; ${effort}.`
  return `${HEADLINES[verdict]}: ${countsOf(report).join(', ')}${where}; ${effort}.`
}

const HEADLINES: Readonly<Record<Report['verdict'], string>> = {
  kept: 'Kept',
  broken: 'Broken',
  unjudged: 'Could not judge',
}

/** What decides comes first, with its ids; "rules" stands once. */
function countsOf(report: Report): string[] {
  const { rules, verdict } = report
  const having = (status: RuleStatus) => rules.filter((rule) => rule.status === status && rule.judged)
  const unjudged: Count = [rules.filter(({ judged }) => !judged), 'was not tried', 'were not tried']
  const counts: Count[] = [
    [having('fail'), 'fails', 'fail'],
    ...(verdict === 'unjudged' ? [unjudged] : []),
    [having('pass'), 'passes', 'pass', ''],
    [having('warn'), 'warns', 'warn'],
    ...(verdict === 'unjudged' ? [] : [unjudged]),
    [having('skip'), 'is skipped', 'are skipped', unpaginatedNote(report)],
  ]
  return counts.filter(([found]) => found.length > 0).map(countText)
}

/** Rules, the verb for one and for several, and what stands in brackets behind it. */
type Count = [rules: readonly RuleReport[], one: string, many: string, note?: string]

function countText([rules, one, many, note = idsOf(rules)]: Count, index: number): string {
  const unit = index > 0 ? '' : rules.length === 1 ? ' rule' : ' rules'
  return `${formatCount(rules.length)}${unit} ${rules.length === 1 ? one : many}${note === '' ? '' : ` (${note})`}`
}

function idsOf(rules: readonly RuleReport[]): string {
  const ids = [...new Set(rules.map(({ id }) => id))]
  return ids.length > IDS_SHOWN ? '' : ids.join(', ')
}

function unpaginatedNote({ collections }: Report): string {
  const { length } = collections.filter(({ paginated }) => paginated === false)
  if (length === 0) return ''
  if (collections.length === 1) return 'the collection is unpaginated'
  return length === 1 ? 'one collection is unpaginated' : `${formatCount(length)} collections are unpaginated`
}
