/** A report of the checker as text for people: a line a rule, what was found below it, and a summary last. */

import { styleText } from 'node:util'
import { createRequest, curlLine } from '../../check/http/request.ts'
import type { CollectionReport, Report, RuleReport, RuleStatus, Verdict } from '../../check/index.ts'
import { makeVisible } from '../../contract/message-text.ts'
import { lastPage } from '../../contract/page.ts'
import { formatItems, formatPages } from '../figures.ts'
import { wrap } from '../wrap.ts'
import { summaryLine } from './summary.ts'

/** How a report is shown. */
export interface ReportView {
  readonly durationMs: number
  /** Whether requests carried a token. */
  readonly hasToken: boolean
  /** The width of the terminal; undefined where there is none, and lines may be as long as they are. */
  readonly columns: number | undefined
  readonly isColoured: boolean
}

/** Further findings of a rule are mostly the same once more; the other formats have them all. */
const FINDINGS_SHOWN = 3

/** Narrower columns are no longer a text. */
const MIN_COLUMNS = 40

/** Before the sentence of a rule: `  fail  C10  `. */
const RULE_INDENT = 13

/** Before what was expected, what came and who is hurt. */
const LABEL_WIDTH = 10

type Style = Parameters<typeof styleText>[0]

const STYLES: Readonly<Record<RuleStatus, Style>> = {
  pass: 'green',
  fail: ['red', 'bold'],
  warn: 'yellow',
  skip: 'dim',
}
const VERDICT_STYLES: Readonly<Record<Verdict, Style>> = {
  kept: STYLES.pass,
  broken: STYLES.fail,
  unjudged: STYLES.warn,
}

export function reportText(report: Report, view: ReportView): string {
  const writer = new TextWriter(view)
  writer.notes(report.notes)
  for (const collection of report.collections) {
    const rules = report.rules.filter((rule) => rule.collection === collection.url)
    writer.collection(collection, rules)
  }
  writer.summary(report)
  return writer.text
}

class TextWriter {
  readonly #view: ReportView
  readonly #columns: number
  readonly #lines: string[] = []

  constructor(view: ReportView) {
    this.#view = view
    this.#columns = view.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(view.columns, MIN_COLUMNS)
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  collection(collection: CollectionReport, rules: readonly RuleReport[]): void {
    const { url, notes } = collection
    this.#lines.push(this.#styled('bold', makeVisible(url)) + sizeOf(collection))
    if (rules.every(({ judged }) => !judged)) this.#nothing(url, notes[0] ?? rules[0]?.detail ?? '')
    else {
      for (const note of notes) this.#put(note, 2)
      for (const rule of rules) this.#rule(rule)
    }
    this.#lines.push('')
  }

  /** About the run as a whole. */
  notes(notes: readonly string[]): void {
    for (const note of notes) this.#put(note, 0)
    if (notes.length > 0) this.#lines.push('')
  }

  summary(report: Report): void {
    const text = wrap(summaryLine(report, this.#view.durationMs), this.#columns)
    const headline = text.indexOf(':')
    this.#lines.push(this.#styled(VERDICT_STYLES[report.verdict], text.slice(0, headline)) + text.slice(headline))
  }

  /** One sentence in place of as many lines as there are rules. */
  #nothing(url: string, reason: string): void {
    this.#put(`No rule could be tried: ${reason.replace(/\.$/, '')}.`, 2)
    this.#lines.push(
      `  Check the URL, or see for yourself: ${makeVisible(curlLine(createRequest(url), this.#view.hasToken))}`,
    )
  }

  #rule({ id, status, title, detail, judged, findings, hurts }: RuleReport): void {
    const sentence = wrap(makeVisible(title), this.#columns, RULE_INDENT)
    this.#lines.push(`  ${this.#styled(STYLES[status], status)}  ${id.padEnd(3)}  ${sentence}`)
    if (status === 'skip') this.#put(judged ? `skipped: ${detail}` : detail, RULE_INDENT, 'dim')
    for (const [index, { request, expected, came }] of findings.slice(0, FINDINGS_SHOWN).entries()) {
      if (request !== findings[index - 1]?.request) this.#lines.push(' '.repeat(RULE_INDENT) + makeVisible(request))
      this.#labelled('expected', expected)
      this.#labelled('came', came)
    }
    const more = findings.length - FINDINGS_SHOWN
    if (more > 0) this.#put(`and ${more} more`, RULE_INDENT)
    if (hurts !== '') this.#labelled('hurts', hurts)
  }

  #labelled(label: string, text: string): void {
    const sentence = wrap(makeVisible(text), this.#columns, RULE_INDENT + LABEL_WIDTH)
    this.#lines.push(' '.repeat(RULE_INDENT) + this.#styled('dim', label.padEnd(LABEL_WIDTH)) + sentence)
  }

  #put(text: string, indent: number, style?: Style): void {
    this.#lines.push(' '.repeat(indent) + this.#styled(style, wrap(makeVisible(text), this.#columns, indent)))
  }

  #styled(style: Style | undefined, text: string): string {
    return this.#view.isColoured && style !== undefined ? styleText(style, text, { validateStream: false }) : text
  }
}

/** `: 1,234 items, 3 pages`, by what the server says itself; nothing where that is not known. */
function sizeOf({ paginated, item_count: itemCount }: CollectionReport): string {
  if (paginated === false) return ': unpaginated'
  return itemCount === undefined ? '' : `: ${formatItems(itemCount)}, ${formatPages(lastPage(itemCount))}`
}
