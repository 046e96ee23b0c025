/** D8: one fixed order. */

import type { Answer } from '../answer.ts'
import { changeBetween } from '../order.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D8: Rule = {
  id: 'D8',
  title: 'The order is fixed: a page that is read again holds the same items in the same order.',
  why: 'Without a total order, items move between pages from one request to the next, and a client misses some and gets others twice.',
  hurts: 'whoever reads more than one page: what stood on page 2 may be on page 1 by now.',
  right: 'GET /events?page=2, twice → the same items in the same order',
  wrong: 'GET /events?page=2, twice → sorted by a date that many items share, each time in another order',
  scope: 'envelope',
  needsStillness: true,
  review: judgeReadings,
}

/** Some pages are read twice in every run. */
function judgeReadings(trial: Trial, answers: readonly Answer[]): void {
  const before = new Map<string, Answer>()
  for (const answer of answers) {
    const key = JSON.stringify(answer.ask)
    const [those, these] = [before.get(key)?.document?.items, answer.document?.items]
    const change = those === undefined || these === undefined ? undefined : changeBetween(those, these)
    const expected = 'the same items in the same order, when read again'
    if (change === 'reordered') trial.broken(answer, expected, 'the same items in another order')
    else if (change === 'moved') trial.differs(answer, expected, 'items in other places')
    before.set(key, answer)
  }
}
