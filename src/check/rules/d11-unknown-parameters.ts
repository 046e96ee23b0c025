/** D11: parameters that mean nothing. */

import { askWithUnknownParameter, probedPage, UNKNOWN_PARAMETER } from '../questions.ts'
import type { Rule } from '../rule.ts'
import { compareBytes } from '../same-bytes.ts'

export const D11: Rule = {
  id: 'D11',
  title: 'Query parameters other than page are ignored, and never reflected in links.',
  why: 'Trackers and caches add parameters of their own. An answer that repeats them makes as many copies in every cache.',
  hurts: 'a client behind something that adds parameters.',
  right: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → the bytes of /events?page=2`,
  wrong: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → "next": {"href": "…/events?page=3&${UNKNOWN_PARAMETER}=1"}`,
  scope: '200',
  async probe(trial) {
    const { subject, layout } = trial
    const plain = layout.kind === 'paginated' ? await subject.page(probedPage(trial)) : layout.bare
    const answer = await askWithUnknownParameter(trial)
    if (plain.status !== 200) return trial.skip('the page without it does not answer 200 (C1)')
    await compareBytes(trial, plain, answer, 'the page without it')
  },
}
