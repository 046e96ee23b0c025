/** C6 and D11: `page` picks the page, and other parameters mean nothing. */

import type { Page } from '../layout.ts'
import { PageMemory } from '../page/fingerprint-table.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { probedResponse, responseWithUnknownParameter, UNKNOWN_PARAMETER } from '../shared-requests.ts'

export const C6: Rule = {
  id: 'C6',
  title: 'The parameter page selects the page: asked for page 2, the server returns page 2.',
  why: 'Because pages have numbers, a client can read them in any order, many at a time, or only the last one.',
  hurts: 'anyone who asks for a page and gets another one, without any sign of it.',
  right: 'GET /events?page=2 → the items 501 to 1000',
  wrong: 'GET /events?page=2 → the items 1 to 500',
  scope: 'paginated',
  countsFromOne: true,
  watch: (check) => {
    const memory = new PageMemory()
    return { see: (page) => judgePage(check, memory, page) }
  },
}

function judgePage(check: RuleCheck, memory: PageMemory, { response, document, requested, number, last }: Page): void {
  // If items were removed meanwhile, the page may be beyond the last one by its own count, which then stands in (C7).
  const expected = Math.min(requested, last ?? requested)
  if (number !== expected) check.broken(response, `page ${expected}`, `its links are those of page ${number}`)
  const { items } = document
  const earlier = items === undefined || expected !== requested ? undefined : memory.earlier(requested, items)
  if (items !== undefined && earlier !== undefined)
    check.differs(response, `other items than on page ${earlier}`, `the same ${items.count} items`)
}

export const D11: Rule = {
  id: 'D11',
  title: 'Query parameters other than page are ignored, and never reflected in links.',
  why: 'Trackers and caches add parameters of their own. If a response repeats them, every cache stores one copy for each variant.',
  hurts: 'a client behind something that adds parameters.',
  right: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → the bytes of /events?page=2`,
  wrong: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → "next": {"href": "…/events?page=3&${UNKNOWN_PARAMETER}=1"}`,
  scope: '200',
  async probe(check) {
    const plain = await probedResponse(check)
    const response = await responseWithUnknownParameter(check)
    if (plain.status !== 200) return check.skip('the page without it does not answer 200 (C1)')
    await check.compareBytes(plain, response, 'the page without it')
  },
}
