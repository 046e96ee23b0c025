/** A report of the checker as JUnit XML, which CI systems show: a suite a collection, a test case a rule. */

import type { CollectionReport, Report, RuleReport } from '../../check/index.ts'
import { makeVisible } from '../../contract/message-text.ts'

export function reportJunit(report: Report, { durationMs }: { readonly durationMs: number }): string {
  const { collections, rules } = report
  const time = { time: (durationMs / 1000).toFixed(3) }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'reams check', ...countsOf(rules), ...time })}>`,
    // How long each of several took is not known.
    ...collections.flatMap((collection) => suite(report, collection, collections.length === 1 ? time : {})),
    '</testsuites>',
  ].join('\n')
}

function suite(report: Report, { url, notes }: CollectionReport, time: Attributes): string[] {
  const rules = report.rules.filter((rule) => rule.collection === url)
  return [
    `  <testsuite${attributes({ name: url, ...countsOf(rules), ...time })}>`,
    ...rules.map(testCase),
    ...(notes.length === 0 ? [] : [`    <system-out>${lines(notes)}</system-out>`]),
    '  </testsuite>',
  ]
}

function testCase(rule: RuleReport): string {
  const { id, title, collection } = rule
  const outcome = outcomeOf(rule)
  const start = `    <testcase${attributes({ classname: collection, name: `${id} ${title}` })}`
  return outcome === '' ? `${start}/>` : `${start}>\n      ${outcome}\n    </testcase>`
}

/** Empty for a rule that passed without a word. */
function outcomeOf(rule: RuleReport): string {
  const { id, status, detail } = rule
  const message = { message: detail }
  if (isError(rule)) return `<error${attributes({ ...message, type: 'unjudged' })}/>`
  if (status === 'fail') return `<failure${attributes({ ...message, type: id })}>${lines(findingLines(rule))}</failure>`
  if (status === 'warn') return `<system-out>${lines(['warning:', ...findingLines(rule)])}</system-out>`
  return status === 'skip' ? `<skipped${attributes(message)}/>` : ''
}

function findingLines({ findings, hurts }: RuleReport): string[] {
  const found = findings.flatMap(({ request, expected, came }) => [request, `expected ${expected}`, `came ${came}`, ''])
  return [...found, `hurts ${hurts}`]
}

function countsOf(rules: readonly RuleReport[]) {
  const count = (isCounted: (rule: RuleReport) => boolean) => String(rules.filter(isCounted).length)
  return {
    tests: count(() => true),
    failures: count(({ status, judged }) => status === 'fail' && judged),
    errors: count(isError),
    skipped: count((rule) => rule.status === 'skip' && !isError(rule)),
  }
}

/** What was not judged is an error where the verdict depends on it, as the exit status says too. */
function isError({ judged, decides }: RuleReport): boolean {
  return !judged && decides
}

type Attributes = Readonly<Record<string, string>>

function attributes(values: Attributes): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('')
}

function lines(texts: readonly string[]): string {
  return texts.map(escaped).join('\n')
}

/** XML 1.0 has no place for most control characters, not even as a reference: they are written out as in a message. */
function escaped(text: string): string {
  return makeVisible(text)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
