import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Report, RuleReport } from '../../src/check/index.ts'
import { type ReportView, reportText } from '../../src/cli/commands/check/text.ts'

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
    hurts: '',
    judged: true,
    decides: true,
    findings: [],
    ...change,
  }
}

const FAILED = rule({
  id: 'C7',
  status: 'fail',
  hurts: 'a client that asks for a page that has just gone, or for the last one by a large number.',
  findings: [
    {
      request: `curl -si -H 'Accept: application/json' -H 'X-Long: header' '${URL_OF_ALL}?page=4'`,
      expected: 'as page 3: 200 OK',
      came: '404 Not Found',
    },
  ],
})

function report(rules: readonly RuleReport[], change: Partial<Report> = {}): Report {
  const count = (status: string) => rules.filter((each) => each.status === status).length
  return {
    format: 1,
    url: URL_OF_ALL,
    verdict: 'broken',
    requests: 43,
    notes: [],
    collections: [{ url: URL_OF_ALL, paginated: true, item_count: 1234, requests: 43, notes: [] }],
    rules,
    summary: { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') },
    ...change,
  }
}

describe('a report as text', () => {
  it('breaks sentences at the width of a terminal, with a hanging indent, and no request', () => {
    const text = reportText(report([rule({}), FAILED]), { ...PIPE, columns: 80 })
    assert.equal(
      text,
      `https://api.example.com/events: 1,234 items, 3 pages
  pass  C1   A sentence of a rule that is too long for a line of a terminal, so
             that it has to be broken somewhere.
  fail  C7   A sentence of a rule that is too long for a line of a terminal, so
             that it has to be broken somewhere.
             curl -si -H 'Accept: application/json' -H 'X-Long: header' 'https://api.example.com/events?page=4'
             expected  as page 3: 200 OK
             came      404 Not Found
             hurts     a client that asks for a page that has just gone, or for
                       the last one by a large number.

Broken: 1 rule fails (C7), 1 passes; 43 requests in 200 ms.`,
    )
  })

  it('breaks nothing where there is no terminal, and says the same with colours', () => {
    const plain = reportText(report([rule({}), FAILED]), PIPE)
    assert.equal(plain.split('\n').filter((line) => line.endsWith('has to be broken somewhere.')).length, 2)
    const coloured = reportText(report([rule({}), FAILED]), { ...PIPE, isColoured: true })
    assert.ok(coloured.includes('\u001b[32mpass\u001b[39m  C1'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), plain)
  })

  it('shows a request once for all that it shows, and three findings of a rule', () => {
    const finding = (request: string, came: string) => ({ request, expected: 'x', came })
    const findings = [finding('curl a', '1'), finding('curl a', '2'), finding('curl b', '3'), finding('curl c', '4')]
    const lines = reportText(report([rule({ status: 'fail', findings, hurts: 'all.' })]), PIPE).split('\n')
    const shown = lines.slice(2, -2).map((line) => line.trim().replaceAll(/ +/g, ' '))
    const expected =
      'curl a, expected x, came 1, expected x, came 2, curl b, expected x, came 3, and 1 more, hurts all.'
    assert.equal(shown.join(', '), expected)
  })

  it('says of a rule that was not judged why', () => {
    const unjudged = rule({ id: 'C2', status: 'skip', judged: false, detail: 'not judged: no time' })
    const text = reportText(report([rule({}), unjudged], { verdict: 'unjudged' }), PIPE)
    assert.match(text, /^ {2}skip {2}C2 .*\n {13}not judged: no time$/m)
    assert.match(text, /\nCould not judge: 1 rule was not tried \(C2\), 1 passes; /)
  })

  it('shows notes, and lets nothing steer the terminal', () => {
    const nasty = '\u001b[31m\n\u202e'
    const findings = [{ request: nasty, expected: nasty, came: nasty }]
    const text = reportText(
      report([rule({}), rule({ status: 'fail', title: nasty, hurts: nasty, findings })], {
        collections: [{ url: URL_OF_ALL, requests: 1, notes: [`The data changed: ${nasty}`] }],
      }),
      PIPE,
    )
    assert.match(text, /^ {2}The data changed: \\u001b\[31m\\n\\u202e$/m)
    assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}]/u)
    assert.equal(text.split('\n').length, 10)
  })
})
