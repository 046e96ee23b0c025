/** D12: media types. */

import { shorten } from '../../contract/message-text.ts'
import type { Answer } from '../answer.ts'
import type { Rule } from '../rule.ts'
import { compareBytes } from '../same-bytes.ts'
import type { Trial } from '../trial.ts'

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
  async probe(trial) {
    const { subject, layout } = trial
    const [json, html] = await Promise.all([
      subject.bare({ Accept: 'application/json' }),
      subject.bare({ Accept: 'text/html, image/png' }),
    ])
    judgeType(trial, layout.bare, 'application/hal+json')
    judgeVary(trial, layout.bare)
    judgeType(trial, json, 'application/json')
    await compareBytes(trial, layout.bare, json, 'the answer to Accept: */*')
    if (layout.bare.document === undefined) return
    if (html.status === 200 && html.document === undefined)
      trial.broken(html, 'the envelope, for a client that is no browser', `no JSON: ${html.beginning}`)
    else await compareBytes(trial, layout.bare, html, 'the answer to Accept: */*')
  },
}

function judgeType(trial: Trial, answer: Answer, expected: string): void {
  const type = answer.headers.get('content-type')
  const [name = ''] = type?.split(';') ?? []
  if (answer.status === 200 && name.trim().toLowerCase() !== expected)
    trial.broken(answer, `Content-Type: ${expected}`, type === null ? 'none' : `Content-Type: ${shorten(type)}`)
}

function judgeVary(trial: Trial, answer: Answer): void {
  const vary = answer.headers.get('vary')
  const names = (vary ?? '').split(',').map((name) => name.trim().toLowerCase())
  const isComplete = ['accept', 'accept-encoding'].every((name) => names.includes(name))
  if (answer.status === 200 && !isComplete && !names.includes('*'))
    trial.broken(answer, 'Vary: Accept, Accept-Encoding', vary === null ? 'no Vary' : `Vary: ${shorten(vary)}`)
}
