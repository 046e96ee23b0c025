/** D14: errors are problem details. */

import { shorten } from '../../contract/message-text.ts'
import { type Answer, statusLine } from '../answer.ts'
import { createAsk } from '../ask.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D14: Rule = {
  id: 'D14',
  title:
    'Errors are RFC 9457 problem details with type, title, status, detail and hint; type answers with a description.',
  why: 'A program reads type, a person reads detail and hint. One form for all errors means one piece of code for them.',
  hurts: 'whoever has to find out from a log what went wrong.',
  right: `GET /events?page=0 → 400, Content-Type: application/problem+json
{"type": "https://api.example.com/-/problems/invalid-page", "title": "…", "status": 400, "detail": "The parameter \\"page\\" is \\"0\\", …", "hint": "Ask for page=1 …"}`,
  wrong: 'GET /events?page=0 → 400, Content-Type: text/html, <h1>Bad Request</h1>',
  scope: '200',
  async probe(trial) {
    const { subject, layout } = trial
    const missing = await subject.ask(createAsk(new URL(MISSING_NAME, subject.url).href))
    if (missing.status !== 404) trial.broken(missing, '404 Not Found', statusLine(missing))
    else judgeProblem(trial, missing, MISSING_NAME)
    const problems = [missing]
    if (layout.kind === 'paginated') {
      const invalid = await subject.query('page=abc')
      // That it is a 400 at all is D3's matter.
      if (invalid.status >= 400) judgeProblem(trial, invalid, 'abc', 'page')
      problems.push(invalid)
    }
    await judgeType(trial, problems)
  },
}

/** A longer URL is none that a description stands at. */
const MAX_CHARACTERS = 2000

const MISSING_NAME = 'reams-check-no-such-collection'

/** All flaws of one answer are one finding. */
function judgeProblem(trial: Trial, answer: Answer, ...values: readonly string[]): void {
  const type = answer.headers.get('content-type') ?? 'none'
  const problem = answer.document?.whole
  const flaws: string[] = []
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/problem+json')
    flaws.push(`Content-Type: ${shorten(type)}`)
  if (problem === undefined) flaws.push(`no JSON object: ${answer.beginning}`)
  else {
    for (const name of ['type', 'title', 'detail', 'hint'])
      if (typeof problem[name] !== 'string' || problem[name] === '') flaws.push(`no ${name}`)
    if (problem['status'] !== answer.status) flaws.push(`no status ${answer.status}`)
    const { detail } = problem
    for (const value of values)
      if (typeof detail === 'string' && !detail.includes(value)) flaws.push(`a detail without "${value}"`)
    if (typeof problem['type'] === 'string' && !/^https?:\/\/./.test(problem['type']))
      flaws.push('a type that is no URL')
  }
  if (flaws.length > 0)
    trial.broken(answer, 'problem details with type, title, status, detail (with the value) and hint', flaws.join(', '))
}

/** Asks for the description of one problem, if it lies on the same server. */
async function judgeType(trial: Trial, problems: readonly Answer[]): Promise<void> {
  const { origin } = new URL(trial.subject.url)
  const types = problems.flatMap(({ document }) => {
    const type = document?.whole?.['type']
    return typeof type === 'string' &&
      type.length < MAX_CHARACTERS &&
      URL.canParse(type) &&
      new URL(type).origin === origin
      ? [type]
      : []
  })
  const [type] = types
  if (type === undefined) return
  const description = await trial.subject.ask(createAsk(type))
  if (description.status !== 200)
    trial.broken(description, '200 with a description of the problem', statusLine(description))
}
