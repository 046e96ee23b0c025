/** What a report says about a server that keeps every rule. */

import assert from 'node:assert/strict'
import { type CheckOptions, type Report, RULES, type RuleId } from '../../src/check/index.ts'

export const SIZES = [0, 1, 499, 500, 501, 1000, 1001]

/** Strict runs: whatever warns in another one fails here. */
export const RUNS: readonly CheckOptions[] = [{ strict: true }, { strict: true, walk: true }]

export const PAGINATED_RULES = RULES.filter(({ scope }) => scope === 'paginated').map(({ id }) => id)

/** Nothing fails, nothing warns, and nothing is skipped but the rules that are named. */
export function assertKept(report: Report, skipped: readonly RuleId[]): void {
  assert.deepEqual(complaintsOf(report), [])
  const ids = report.rules.filter(({ status }) => status === 'skip').map(({ id }) => id)
  assert.deepEqual(ids, skipped)
  assert.equal(report.verdict, 'passed')
}

export function complaintsOf({ rules }: Report): string[] {
  return rules
    .filter(({ status }) => status === 'fail' || status === 'warn')
    .map(({ id, status, detail, request }) => `${id} ${status}: ${detail} (${request})`)
}

/** D5 is about empty collections, D10 about those without pages, D22 about those whose pages link a snapshot. */
export function skippedFor(itemCount: number, hasHistory = false): RuleId[] {
  const skipped: RuleId[] = hasHistory ? ['D10'] : ['D10', 'D22']
  return itemCount === 0 ? skipped : ['D5', ...skipped]
}
