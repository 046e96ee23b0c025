/** C10: a GET without a body. */

import { statusLine } from '../answer.ts'
import type { Rule } from '../rule.ts'

export const C10: Rule = {
  id: 'C10',
  title: 'The GET takes no body: one without is answered.',
  why: 'A GET has no body, and many clients cannot send one.',
  hurts: 'every client: there is no way to ask.',
  right: 'GET /events → 200',
  wrong: 'GET /events → 411 Length Required, or 415 Unsupported Media Type',
  scope: 'answer',
  async probe(trial) {
    const { bare } = trial.layout
    if ([411, 415].includes(bare.status)) trial.broken(bare, 'an answer to a GET without a body', statusLine(bare))
  },
}
