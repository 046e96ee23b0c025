/** Checks whether a server keeps the contract, and returns a report. */

import { hideSecret } from '../contract/message-text.ts'
import { CollectionRun } from './check-collection.ts'
import { type CheckOptions, limitsOf, parseAddress, WrongUse } from './check-options.ts'
import { findCollections } from './find-collections.ts'
import { Requester } from './http/requester.ts'
import { createSocketFetch } from './http/socket-fetch.ts'
import { type CollectionReport, REPORT_FORMAT, type Report, type RuleReport, type RuleStatus } from './report.ts'
import type { Rule, RuleId } from './rule.ts'
import { C2, C3, D15 } from './rules/count.ts'
import { C1, C8, D5, D6, D9, D10 } from './rules/envelope.ts'
import { D22 } from './rules/history.ts'
import { C10, D12, D13, D14, D16 } from './rules/http.ts'
import { C4, C5, C9, D4, D7, D17 } from './rules/links.ts'
import { C6, C7, D1, D2, D3, D8, D11 } from './rules/pages.ts'

/** Throws WrongUse for a URL or options that cannot be used; everything that the server does is in the report. */
export async function checkConformance(url: string, options: CheckOptions = {}): Promise<Report> {
  const rules = rulesOf(options.rules)
  const address = parseAddress(url)
  const limits = limitsOf(options)
  const { token, signal, strict: isStrict = false, walk: isWalk = false } = options
  const sockets = options.fetch === undefined ? createSocketFetch({ ca: options.ca }) : undefined
  const fetch = options.fetch ?? sockets?.fetch ?? globalThis.fetch
  const requester = new Requester({ ...limits, fetch, token, signal, onStale: () => sockets?.keepNoConnections() })
  try {
    const { targets, notes } = await findCollections(requester, address, options)
    const collections: CollectionReport[] = []
    const reports: RuleReport[] = []
    for (const target of targets) {
      const onPage = (page: number, last: number) => options.onPage?.(target.url, page, last)
      const context = { requester, rules, isStrict, isWalk, hasToken: token !== undefined, onPage }
      const [collection, ruleReports] = await new CollectionRun({ ...target, ...limits, ...context }).run()
      collections.push(collection)
      reports.push(...ruleReports)
    }
    const report = reportOf(url, requester.sent, notes, collections, reports)
    return token === undefined ? report : hideToken(report, token)
  } finally {
    sockets?.[Symbol.dispose]()
  }
}

function rulesOf(ids: readonly RuleId[] | undefined): readonly Rule[] {
  const known = RULES.map(({ id }) => id)
  const unknown = ids?.find((id) => !known.includes(id))
  if (unknown !== undefined) throw new WrongUse(`There is no rule "${unknown}". The rules are ${known.join(', ')}.`)
  if (ids?.length === 0)
    throw new WrongUse('Invalid "rules": expected at least one rule. Leave the option out for all of them.')
  return ids === undefined ? RULES : RULES.filter(({ id }) => ids.includes(id))
}

function reportOf(
  url: string,
  requests: number,
  notes: readonly string[],
  collections: readonly CollectionReport[],
  rules: readonly RuleReport[],
): Report {
  const count = (status: RuleStatus) => rules.filter((rule) => rule.status === status).length
  const summary = { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') }
  const isJudged = rules.length > 0 && rules.every(({ judged, decides }) => judged || !decides)
  const verdict = summary.fail > 0 ? 'failed' : isJudged ? 'passed' : 'undecided'
  return { format: REPORT_FORMAT, url, verdict, requests, notes, collections, rules, summary }
}

/** A server can repeat the token in its responses, whole or cut off, plain or escaped. */
function hideToken(report: Report, token: string): Report {
  const forms = new Set([token, JSON.stringify(token).slice(1, -1), encodeURIComponent(token), encodeURI(token)])
  const hide = (_name: string, value: unknown) =>
    typeof value === 'string' ? [...forms].reduce(hideSecret, value) : value
  // The report is data, and keeps its form.
  return JSON.parse(JSON.stringify(report), hide)
}

/** All rules, in the order in which a report has them. */
export const RULES: readonly Rule[] = [
  ...[C1, C2, C3, C4, C5, C6, C7, C8, C9, C10],
  ...[D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, D12, D13, D14, D15, D16, D17, D22],
]
