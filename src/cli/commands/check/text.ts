/**
 * Formats a report for people. Warnings and failures come after the rules that passed, next to the summary, where a terminal
 * shows them. Rules that were skipped for the same reason share a line.
 */

import { styleText } from 'node:util'
import { createRequest, curlLine } from '../../../check/http/response.ts'
import type { CollectionReport, FindingReport, Report, RuleReport, RuleStatus, Verdict } from '../../../check/index.ts'
import { rulePage } from '../../../check/rule.ts'
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

/** Of a rule, each different from the others; the JSON report has them all. */
const FINDINGS_SHOWN = 3

/** Narrower columns are no longer a text. */
const MIN_COLUMNS = 40

const STATUS_WORDS: Readonly<Record<RuleStatus, string>> = {
  pass: 'passed',
  fail: 'failed',
  warn: 'warning',
  skip: 'skipped',
}

/** Of the columns with "skipped", with "C10", and with "expected". */
const STATUS_WIDTH = 9
const ID_WIDTH = 5
const LABEL_WIDTH = 10

/** Before the sentence of a rule: `  skipped  C10  `. */
const RULE_INDENT = 2 + STATUS_WIDTH + ID_WIDTH

type Style = Parameters<typeof styleText>[0]

const STYLES: Readonly<Record<RuleStatus | Verdict, Style>> = {
  pass: 'green',
  passed: 'green',
  fail: ['red', 'bold'],
  failed: ['red', 'bold'],
  warn: 'yellow',
  undecided: 'yellow',
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
      const having = (status: RuleStatus) => rules.filter((rule) => rule.status === status)
      for (const rule of having('pass')) putRule(rule)
      for (const [reason, skipped] of Map.groupBy(having('skip'), ({ detail }) => detail)) {
        if (skipped.length > 1) putFolded(reason, skipped)
        else for (const rule of skipped) putRule(rule)
      }
      for (const rule of [...having('warn'), ...having('fail')]) putRule(rule)
    }
    lines.push('')
  }

  /** `label` is the id of a rule, padded, or empty. */
  function putEntry(status: RuleStatus, label: string, text: string): void {
    const word = STATUS_WORDS[status]
    const start = `  ${styled(STYLES[status], word)}${' '.repeat(STATUS_WIDTH - word.length)}${label}`
    lines.push(start + wrap(makeVisible(text), columns, 2 + STATUS_WIDTH + label.length))
  }

  function putFolded(reason: string, rules: readonly RuleReport[]): void {
    const fate = rules.every(({ judged }) => judged) ? '' : ' could not be judged'
    const ids = rules.map(({ id }) => id).join(', ')
    putEntry('skip', '', `${counted(rules.length, 'rule')}${fate} because ${reason}: ${ids}`)
  }

  function putRule({ id, status, title, detail, judged, findings, affects }: RuleReport): void {
    putEntry(status, id.padEnd(ID_WIDTH), title)
    if (status === 'skip') put(judged ? detail : `could not be judged: ${detail}`, RULE_INDENT, 'dim')
    const putLabelled = (label: string, text: string) => put(text, RULE_INDENT, [], label.padEnd(LABEL_WIDTH))
    const shown = distinct(findings).slice(0, FINDINGS_SHOWN)
    for (const [index, { request, expected, got }] of shown.entries()) {
      if (request !== shown[index - 1]?.request) lines.push(' '.repeat(RULE_INDENT) + makeVisible(request))
      putLabelled('expected', expected)
      putLabelled('got', got)
    }
    const more = findings.length - shown.length
    if (more > 0) put(`and ${more} more: --format json lists all`, RULE_INDENT)
    if (affects !== '') putLabelled('affects', affects)
    if (status === 'fail') putLabelled('see', `reams check --explain ${id}, or ${rulePage(id)}`)
  }

  for (const note of report.notes) put(note)
  if (report.notes.length > 0) lines.push('')
  for (const collection of report.collections) {
    const rules = report.rules.filter((rule) => rule.collection === collection.url)
    putCollection(collection, rules)
  }
  for (const sentence of adviceOn(report)) put(sentence)
  const summary = wrap(summaryLine(report, view.durationMs), columns)
  const headline = HEADLINES[report.verdict]
  return [...lines, styled(STYLES[report.verdict], headline) + summary.slice(headline.length)].join('\n')
}

/** The first of those that expected and got the same, whatever the request. */
function distinct(findings: readonly FindingReport[]): FindingReport[] {
  const keys = findings.map(({ expected, got }) => JSON.stringify([expected, got]))
  return findings.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

/** Names the rule to start with, and explains warnings. */
function adviceOn({ rules, collections }: Report): string[] {
  const [failed, ...others] = rules.filter(({ status }) => status === 'fail')
  const warned = rules.find(({ status }) => status === 'warn')
  const advice: string[] = []
  if (failed !== undefined && others.length > 0) {
    const where = collections.length === 1 ? '' : ` of ${failed.collection}`
    advice.push(`Start with ${failed.id}${where}: rules after it may have failed for the same reason.`)
  }
  if (warned !== undefined)
    advice.push(`Warnings do not fail the check. To see what one means: reams check --explain ${warned.id}`)
  return advice
}

/** `: 1,234 items, 3 pages`, by what the server says itself; nothing where that is not known. */
function sizeOf({ paginated, item_count: itemCount }: CollectionReport): string {
  if (paginated === false) return ': unpaginated'
  return itemCount === undefined ? '' : `: ${counted(itemCount, 'item')}, ${counted(lastPage(itemCount), 'page')}`
}

/** More ids than this say nothing any more. */
const IDS_SHOWN = 10

const HEADLINES: Readonly<Record<Verdict, string>> = { passed: 'Passed', failed: 'Failed', undecided: 'Undecided' }

/** `Failed: 2 rules failed (C2, C5), 20 passed, 5 skipped; 43 requests in 0.2 s.` */
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
  const unjudged: Count = [rules.filter(({ judged }) => !judged), 'could not be judged']
  const counts: Count[] = [
    [having('fail'), 'failed'],
    ...(verdict === 'undecided' ? [unjudged] : []),
    [having('pass'), 'passed', ''],
    [having('warn'), 'gave a warning'],
    ...(verdict === 'undecided' ? [] : [unjudged]),
    [having('skip'), 'skipped', unpaginatedNote(report)],
  ]
  return counts.filter(([found]) => found.length > 0).map(countText)
}

/** The note follows in brackets. Default: the ids of the rules. */
type Count = [rules: readonly RuleReport[], verb: string, note?: string]

function countText([rules, verb, note = idsOf(rules)]: Count, index: number): string {
  const count = index === 0 ? counted(rules.length, 'rule') : formatCount(rules.length)
  return `${count} ${verb}${note === '' ? '' : ` (${note})`}`
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
