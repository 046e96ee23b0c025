/** What `import … from 'reams/check'` gives: the checker, its rules, and the types of a report. */

export { checkConformance, RULES } from './check-conformance.ts'
export { type CheckOptions, WrongUse } from './check-options.ts'
export type * from './report.ts'
export type { Rule, RuleId } from './rule.ts'
