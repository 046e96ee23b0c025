/** What `import … from 'reams/check'` gives: the checker, its rules, and the types of a report. */

export { type CheckOptions, checkConformance, WrongUse } from './check-conformance.ts'
export type * from './report.ts'
export type { Rule, RuleId } from './rule.ts'
export { RULES } from './rules/index.ts'
