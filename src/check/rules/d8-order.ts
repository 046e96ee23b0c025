/** D8: one fixed order. */

import type { HttpResponse } from '../http/response.ts'
import { changeBetween } from '../page/items.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const D8: Rule = {
  id: 'D8',
  title: 'The order is fixed: a page that is read again holds the same items in the same order.',
  why: 'Without a total order, items move between pages from one request to the next, and a client misses some and gets others twice.',
  hurts: 'anyone who reads more than one page: an item of page 2 may be on page 1 by now.',
  right: 'GET /events?page=2, twice → the same items in the same order',
  wrong: 'GET /events?page=2, twice → sorted by a date that many items share, each time in another order',
  scope: 'envelope',
  needsStillness: true,
  review: judgeReadings,
}

/** Some pages are read twice in every run. */
function judgeReadings(check: RuleCheck, responses: readonly HttpResponse[]): void {
  const before = new Map<string, HttpResponse>()
  for (const response of responses) {
    const key = JSON.stringify(response.request)
    const [those, these] = [before.get(key)?.document?.items, response.document?.items]
    const change = those === undefined || these === undefined ? undefined : changeBetween(those, these)
    const expected = 'the same items in the same order, when read again'
    if (change === 'reordered') check.broken(response, expected, 'the same items in another order')
    else if (change === 'moved') check.differs(response, expected, 'items in other places')
    before.set(key, response)
  }
}
