/** D12: media types. */

import { type HttpResponse, headerLine } from '../http/response.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const D12: Rule = {
  id: 'D12',
  title:
    'Answers are application/hal+json, or application/json with the same bytes on demand; never 406; Vary says so.',
  why: 'The envelope is HAL. Clients that ask for something else still want the data: stock clients send Accept: text/html without being browsers.',
  hurts:
    'a client whose library sends an Accept header of its own, and everyone behind a cache that mixes up the types.',
  right: 'GET /events → Content-Type: application/hal+json, Vary: Accept, Accept-Encoding',
  wrong: 'GET /events with Accept: text/html, image/png → 406',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const [json, html] = await Promise.all([
      collection.bare({ Accept: 'application/json' }),
      collection.bare({ Accept: 'text/html, image/png' }),
    ])
    judgeType(check, layout.bare, 'application/hal+json')
    judgeVary(check, layout.bare)
    judgeType(check, json, 'application/json')
    await check.compareBytes(layout.bare, json, 'the answer to Accept: */*')
    if (layout.bare.document === undefined) return
    if (html.status === 200 && html.document === undefined)
      check.broken(html, 'the envelope, for a client that is not a browser', `no JSON: ${html.beginning}`)
    else await check.compareBytes(layout.bare, html, 'the answer to Accept: */*')
  },
}

function judgeType(check: RuleCheck, response: HttpResponse, expected: string): void {
  const [name = ''] = response.headers.get('content-type')?.split(';') ?? []
  if (response.status === 200 && name.trim().toLowerCase() !== expected)
    check.broken(response, `Content-Type: ${expected}`, headerLine(response, 'Content-Type'))
}

function judgeVary(check: RuleCheck, response: HttpResponse): void {
  const names = (response.headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase())
  const isComplete = ['accept', 'accept-encoding'].every((name) => names.includes(name))
  if (response.status === 200 && !isComplete && !names.includes('*'))
    check.broken(response, 'Vary: Accept, Accept-Encoding', headerLine(response, 'Vary'))
}
