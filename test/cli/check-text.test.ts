import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Report, RULES, type RuleReport } from '../../src/check/index.ts'
import { rulePage } from '../../src/check/rule.ts'
import { type ReportView, reportText } from '../../src/cli/commands/check/text.ts'
import { anchorsOf } from '../markdown.ts'

const URL_OF_ALL = 'https://api.example.com/events'

const PIPE: ReportView = { durationMs: 200, hasToken: false, columns: undefined, isColoured: false }

function rule(change: Partial<RuleReport>): RuleReport {
  return {
    id: 'C1',
    title: 'A sentence of a rule that is too long for a line of a terminal, so that it has to be broken somewhere.',
    status: 'pass',
    detail: '',
    request: null,
    collection: URL_OF_ALL,
    affects: '',
    judged: true,
    decides: true,
    findings: [],
    ...change,
  }
}

const FAILED = rule({
  id: 'C7',
  status: 'fail',
  affects: 'a client that asks for a page that has just gone, or for the last one by a large number.',
  findings: [
    {
      request: `curl -si -H 'Accept: application/json' -H 'X-Long: header' '${URL_OF_ALL}?page=4'`,
      expected: 'as page 3: 200 OK',
      got: '404 Not Found',
    },
  ],
})

function report(rules: readonly RuleReport[], change: Partial<Report> = {}): Report {
  const count = (status: string) => rules.filter((each) => each.status === status).length
  return {
    format: 2,
    url: URL_OF_ALL,
    verdict: 'failed',
    requests: 43,
    notes: [],
    collections: [{ url: URL_OF_ALL, paginated: true, item_count: 1234, requests: 43, notes: [] }],
    rules,
    summary: { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') },
    ...change,
  }
}

/** Below a failed rule with these findings: its lines, up to the one that says where to read more. */
function shownFindings(...pairs: [request: string, got: string][]): string {
  const findings = pairs.map(([request, got]) => ({ request, expected: 'x', got }))
  const lines = reportText(report([rule({ status: 'fail', findings, affects: 'all.' })]), PIPE).split('\n')
  const end = lines.findIndex((line) => line.trim().startsWith('see '))
  return lines
    .slice(2, end)
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
    .join(', ')
}

describe('a report as text', () => {
  it('breaks sentences at the width of a terminal, with a hanging indent, and no request', () => {
    const text = reportText(report([rule({}), FAILED]), { ...PIPE, columns: 80 })
    assert.equal(
      text,
      `https://api.example.com/events: 1,234 items, 3 pages
  passed   C1   A sentence of a rule that is too long for a line of a terminal,
                so that it has to be broken somewhere.
  failed   C7   A sentence of a rule that is too long for a line of a terminal,
                so that it has to be broken somewhere.
                curl -si -H 'Accept: application/json' -H 'X-Long: header' 'https://api.example.com/events?page=4'
                expected  as page 3: 200 OK
                got       404 Not Found
                affects   a client that asks for a page that has just gone, or
                          for the last one by a large number.
                see       reams check --explain C7, or
                          docs/reference/rules.md#c7

Failed: 1 rule failed (C7), 1 passed; 43 requests in 200 ms.`,
    )
  })

  it('breaks nothing where there is no terminal, and says the same with colours', () => {
    const plain = reportText(report([rule({}), FAILED]), PIPE)
    assert.equal(plain.split('\n').filter((line) => line.endsWith('has to be broken somewhere.')).length, 2)
    const coloured = reportText(report([rule({}), FAILED]), { ...PIPE, isColoured: true })
    assert.ok(coloured.includes('\u001b[32mpassed\u001b[39m   C1'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), plain)
  })

  it('shows each request once, three findings of a rule, and a finding once, however many requests had it', () => {
    const end = 'more: --format json lists all, affects all.'
    const found = shownFindings(['curl a', '1'], ['curl a', '2'], ['curl b', '3'], ['curl c', '4'])
    assert.equal(found, `curl a, expected x, got 1, expected x, got 2, curl b, expected x, got 3, and 1 ${end}`)
    const repeated = shownFindings(['curl a', '1'], ['curl b', '1'], ['curl c', '1'], ['curl d', '2'])
    assert.equal(repeated, `curl a, expected x, got 1, curl d, expected x, got 2, and 2 ${end}`)
  })

  it('says why a rule could not be judged', () => {
    const unjudged = rule({ id: 'C2', status: 'skip', judged: false, detail: 'no time is left' })
    const text = reportText(report([rule({}), unjudged], { verdict: 'undecided' }), PIPE)
    assert.match(text, /^ {2}skipped {2}C2 .*\n {16}could not be judged: no time is left$/m)
    assert.match(text, /\nUndecided: 1 rule could not be judged \(C2\), 1 passed; /)
  })

  it('has one line for all rules that were skipped for the same reason', () => {
    const skipped = (id: RuleReport['id'], detail: string, judged = true) =>
      rule({ id, status: 'skip', detail, judged })
    const rules = [
      rule({ id: 'C10' }),
      ...(['C2', 'C3', 'D4'] as const).map((id) => skipped(id, 'the response is not an envelope (C1)')),
      ...(['C6', 'D15'] as const).map((id) => skipped(id, 'no time is left', false)),
      skipped('D5', 'the collection is not empty'),
    ]
    const lines = reportText(report(rules), PIPE).split('\n')
    assert.deepEqual(lines.slice(2, 4), [
      '  skipped  3 rules because the response is not an envelope (C1): C2, C3, D4',
      '  skipped  2 rules could not be judged because no time is left: C6, D15',
    ])
    assert.match(lines[4] ?? '', /^ {2}skipped {2}D5 {3}A sentence/)
    assert.equal(lines[5], '                the collection is not empty')
  })

  it('shows warnings and failures last, above the summary', () => {
    const rules = [FAILED, rule({ id: 'C8' }), rule({ id: 'D4', status: 'warn' }), rule({ id: 'D5', status: 'skip' })]
    const text = reportText(report(rules), PIPE)
    const shown = ['  passed   C8', '  skipped  D5', '  warning  D4', '  failed   C7']
    assert.deepEqual(text.match(/^ {2}[a-z]+ +[CD]\d+/gm), shown)
  })

  it('names the rule to start with if several failed, and how to have a warning explained', () => {
    const advice = (...rules: RuleReport[]) =>
      reportText(report(rules), PIPE).split('\n\n').at(-1)?.split('\n').slice(0, -1)
    const second = rule({ id: 'C9', status: 'fail' })
    const warned = rule({ id: 'D4', status: 'warn' })
    const start = 'Start with C7: rules after it may have failed for the same reason.'
    const explain = 'Warnings do not fail the check. To see what one means: reams check --explain D4'
    assert.deepEqual(advice(FAILED), [])
    assert.deepEqual(advice(FAILED, second, warned), [start, explain])
    assert.deepEqual(advice(rule({}), warned), [explain])
  })

  it('links a section that exists, for every rule', () => {
    for (const { id } of RULES) {
      const [path = '', anchor = ''] = rulePage(id).split('#')
      assert.ok(anchorsOf(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).includes(anchor), id)
    }
  })

  it('shows notes, and lets nothing steer the terminal', () => {
    const nasty = '\u001b[31m\n\u202e'
    const findings = [{ request: nasty, expected: nasty, got: nasty }]
    const text = reportText(
      report([rule({}), rule({ status: 'fail', title: nasty, affects: nasty, findings })], {
        collections: [{ url: URL_OF_ALL, requests: 1, notes: [`The data changed: ${nasty}`] }],
      }),
      PIPE,
    )
    assert.match(text, /^ {2}The data changed: \\u001b\[31m\\n\\u202e$/m)
    assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}]/u)
    assert.equal(text.split('\n').length, 11)
  })
})
