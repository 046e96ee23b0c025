/** A report of the checker as text for people: a line for each rule, what was found below it, and a summary last. */

import { styleText } from 'node:util'
import { createRequest, curlLine } from '../../../check/http/response.ts'
import type { CollectionReport, Report, RuleReport, RuleStatus, Verdict } from '../../../check/index.ts'
import { counted, formatCount, makeVisible } from '../../../contract/message-text.ts'
import { lastPage } from '../../../contract/page.ts'
import { formatDuration } from '../../output.ts'

/** How a report is shown. */
export interface ReportView {
  readonly durationMs: number
  /** Whether requests carried a token. */
  readonly hasToken: boolean
  /** The width of the terminal; undefined if there is none, and lines are not wrapped. */
  readonly columns: number | undefined
  readonly isColoured: boolean
}

/** Further findings of a rule are mostly the same once more; the JSON report has them all. */
const FINDINGS_SHOWN = 3

/** Narrower columns are no longer a text. */
const MIN_COLUMNS = 40

/** Before the sentence of a rule: `  fail  C10  `. */
const RULE_INDENT = 13

/** Before what was expected, what came and who is hurt. */
const LABEL_WIDTH = 10

type Style = Parameters<typeof styleText>[0]

const STYLES: Readonly<Record<RuleStatus | Verdict, Style>> = {
  pass: 'green',
  kept: 'green',
  fail: ['red', 'bold'],
  broken: ['red', 'bold'],
  warn: 'yellow',
  unjudged: 'yellow',
  skip: 'dim',
}

export function reportText(report: Report, view: ReportView): string {
  const lines: string[] = []
  const columns = view.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(view.columns, MIN_COLUMNS)
  const styled = (style: Style, text: string) =>
    view.isColoured ? styleText(style, text, { validateStream: false }) : text
  /** Each label stands in a column of its own, and the lines of the text below one another. */
  const put = (text: string, indent = 0, style: Style = [], label = '') =>
    lines.push(
      ' '.repeat(indent) +
        (label && styled('dim', label)) +
        styled(style, wrap(makeVisible(text), columns, indent + label.length)),
    )

  function putCollection(collection: CollectionReport, rules: readonly RuleReport[]): void {
    const { url, notes } = collection
    lines.push(styled('bold', makeVisible(url)) + sizeOf(collection))
    if (rules.every(({ judged }) => !judged)) {
      // One sentence instead of a line for each rule.
      const reason = notes[0] ?? rules[0]?.detail ?? ''
      put(`No rule could be tried: ${reason.replace(/\.$/, '')}.`, 2)
      const curl = makeVisible(curlLine(createRequest(url), view.hasToken))
      lines.push(`  Check the URL, or see for yourself: ${curl}`)
    } else {
      for (const note of notes) put(note, 2)
      for (const rule of rules) putRule(rule)
    }
    lines.push('')
  }

  function putRule({ id, status, title, detail, judged, findings, hurts }: RuleReport): void {
    const sentence = wrap(makeVisible(title), columns, RULE_INDENT)
    lines.push(`  ${styled(STYLES[status], status)}  ${id.padEnd(3)}  ${sentence}`)
    if (status === 'skip') put(judged ? `skipped: ${detail}` : detail, RULE_INDENT, 'dim')
    const putLabelled = (label: string, text: string) => put(text, RULE_INDENT, [], label.padEnd(LABEL_WIDTH))
    for (const [index, { request, expected, came }] of findings.slice(0, FINDINGS_SHOWN).entries()) {
      if (request !== findings[index - 1]?.request) lines.push(' '.repeat(RULE_INDENT) + makeVisible(request))
      putLabelled('expected', expected)
      putLabelled('came', came)
    }
    const more = findings.length - FINDINGS_SHOWN
    if (more > 0) put(`and ${more} more`, RULE_INDENT)
    if (hurts !== '') putLabelled('hurts', hurts)
  }

  for (const note of report.notes) put(note)
  if (report.notes.length > 0) lines.push('')
  for (const collection of report.collections) {
    const rules = report.rules.filter((rule) => rule.collection === collection.url)
    putCollection(collection, rules)
  }
  const summary = wrap(summaryLine(report, view.durationMs), columns)
  const headline = HEADLINES[report.verdict]
  return [...lines, styled(STYLES[report.verdict], headline) + summary.slice(headline.length)].join('\n')
}

/** `: 1,234 items, 3 pages`, by what the server says itself; nothing where that is not known. */
function sizeOf({ paginated, item_count: itemCount }: CollectionReport): string {
  if (paginated === false) return ': unpaginated'
  return itemCount === undefined ? '' : `: ${counted(itemCount, 'item')}, ${counted(lastPage(itemCount), 'page')}`
}

/** More ids than this say nothing any more. */
const IDS_SHOWN = 10

const HEADLINES: Readonly<Record<Verdict, string>> = { kept: 'Kept', broken: 'Broken', unjudged: 'Could not judge' }

/** `Broken: 2 rules fail (C2, C5), 20 pass, 5 are skipped; 43 requests in 0.2 s.` */
function summaryLine(report: Report, durationMs: number): string {
  const { collections, verdict, requests } = report
  const where = collections.length === 1 ? '' : `, in ${formatCount(collections.length)} collections`
  const found = collections.length === 0 ? 'there is no collection to check' : countsOf(report).join(', ') + where
  return `${HEADLINES[verdict]}: ${found}; ${counted(requests, 'request')} in ${formatDuration(durationMs)}.`
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
  const { length } = rules
  const count = index === 0 ? counted(length, 'rule') : formatCount(length)
  return `${count} ${length === 1 ? one : many}${note === '' ? '' : ` (${note})`}`
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

/**
 * Breaks a text into lines at blanks. The caller writes `indent` columns before the first line; the others are indented as
 * far. A word that is too long for a line stays whole.
 */
export function wrap(text: string, columns: number, indent = 0): string {
  const [first = '', ...words] = text.split(' ')
  let wrapped = first
  let length = indent + first.length
  for (const word of words) {
    const isFull = length + 1 + word.length > columns
    wrapped += (isFull ? `\n${' '.repeat(indent)}` : ' ') + word
    length = (isFull ? indent : length + 1) + word.length
  }
  return wrapped
}
