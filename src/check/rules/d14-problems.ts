/** D14: errors are problem details. */

import { createRequest } from '../http/request.ts'
import { type HttpResponse, headerLine, statusLine } from '../http/response.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const D14: Rule = {
  id: 'D14',
  title:
    'Errors are RFC 9457 problem details with type, title, status, detail and hint; type answers with a description.',
  why: 'A program reads type, a person reads detail and hint. One form for all errors means one piece of code for them.',
  hurts: 'anyone who has to find out from a log what went wrong.',
  right: `GET /events?page=0 → 400, Content-Type: application/problem+json
{"type": "https://api.example.com/-/problems/invalid-page", "title": "…", "status": 400, "detail": "The parameter \\"page\\" is \\"0\\", …", "hint": "Ask for page=1 …"}`,
  wrong: 'GET /events?page=0 → 400, Content-Type: text/html, <h1>Bad Request</h1>',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const missing = await collection.send(createRequest(new URL(MISSING_NAME, collection.url).href))
    if (missing.status !== 404) check.broken(missing, '404 Not Found', statusLine(missing))
    else judgeProblem(check, missing, MISSING_NAME)
    const problems = [missing]
    if (layout.kind === 'paginated') {
      const invalid = await collection.query('page=abc')
      // That it is a 400 at all is D3's matter.
      if (invalid.status >= 400) judgeProblem(check, invalid, 'abc', 'page')
      problems.push(invalid)
    }
    await judgeType(check, problems)
  },
}

/** A longer URL is none that a description stands at. */
const MAX_CHARACTERS = 2000

const MISSING_NAME = 'reams-check-no-such-collection'

/** All flaws of one answer are one finding. */
function judgeProblem(check: RuleCheck, response: HttpResponse, ...values: readonly string[]): void {
  const [type = ''] = response.headers.get('content-type')?.split(';') ?? []
  const problem = response.document?.whole
  const flaws: string[] = []
  if (type.trim().toLowerCase() !== 'application/problem+json') flaws.push(headerLine(response, 'Content-Type'))
  if (problem === undefined) flaws.push(`no JSON object: ${response.beginning}`)
  else {
    for (const name of ['type', 'title', 'detail', 'hint'])
      if (typeof problem[name] !== 'string' || problem[name] === '') flaws.push(`no ${name}`)
    if (problem['status'] !== response.status) flaws.push(`no status ${response.status}`)
    const { detail } = problem
    for (const value of values)
      if (typeof detail === 'string' && !detail.includes(value)) flaws.push(`a detail without "${value}"`)
    if (typeof problem['type'] === 'string' && !/^https?:\/\/./.test(problem['type']))
      flaws.push('a type that is no URL')
  }
  if (flaws.length > 0)
    check.broken(
      response,
      'problem details with type, title, status, detail (with the value) and hint',
      flaws.join(', '),
    )
}

/** Asks for the description of one problem, if it lies on the same server. */
async function judgeType(check: RuleCheck, problems: readonly HttpResponse[]): Promise<void> {
  const { origin } = new URL(check.collection.url)
  const type = problems
    .map(({ document }) => document?.whole?.['type'])
    .filter((each) => typeof each === 'string' && each.length < MAX_CHARACTERS && URL.canParse(each))
    .map(String)
    .find((each) => new URL(each).origin === origin)
  if (type === undefined) return
  const description = await check.collection.send(createRequest(type))
  if (description.status !== 200)
    check.broken(description, '200 with a description of the problem', statusLine(description))
}
