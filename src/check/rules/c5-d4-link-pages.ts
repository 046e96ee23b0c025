/** C5 and D4: which links there are, to which page each leads, and which are absent at the ends. */

import type { HttpResponse } from '../http/response.ts'
import type { PageRelation } from '../page/document.ts'
import { shown } from '../page/items.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const C5: Rule = {
  id: 'C5',
  title:
    'first and last are in every response; first has no page parameter, every other link has the number of its page.',
  why: 'A crawler follows next to the end, and a parallel one learns from last how far it has to go: ceil(item_count / 500), and 1 for an empty collection.',
  hurts: 'every crawler: it stops too early, runs in circles or asks for pages that do not exist.',
  right: 'GET /events?page=2 of 1234 items → prev …?page=1, next …?page=3, last …?page=3, first …/events',
  wrong: 'GET /events?page=2 of 1234 items → prev …/events, without its page',
  scope: 'paginated',
  see(check, { response, document, number, last }) {
    if (document.linksKind !== 'an object') return
    judgeFirst(check, response)
    judgeTarget(check, response, 'last', last)
    // The ends of the collection are D4's matter.
    if (number > 1) judgeTarget(check, response, 'prev', number - 1)
    if (last !== undefined && number < last) judgeTarget(check, response, 'next', number + 1)
  },
}

function judgeFirst(check: RuleCheck, response: HttpResponse): void {
  const link = check.collection.link(response.document, 'first')
  if (link === undefined) check.broken(response, 'a link first', 'none')
  else if (link.page !== undefined)
    check.broken(response, 'a link first without a page parameter', `first leads to ${link.href}`)
}

/** What is malformed is C4's matter. */
function judgeTarget(check: RuleCheck, response: HttpResponse, relation: PageRelation, target?: number): void {
  const link = check.collection.link(response.document, relation)
  const expected = `${relation} leads to page ${target}`
  if (link === undefined) check.broken(response, `a link ${relation}`, 'none')
  else if (link.href === undefined || Number.isNaN(link.page)) return
  else if (link.page === undefined) check.broken(response, `${expected}, by its number`, `${link.href}, without a page`)
  else if (target !== undefined && link.page !== target)
    check.broken(response, expected, `it leads to page ${link.page}`)
}

export const D4: Rule = {
  id: 'D4',
  title: 'prev is absent on the first page and next on the last: absent, never null.',
  why: 'A crawler stops where next is absent. It cannot stop at a short page, because a last page can be full, nor at an empty one, because of C7.',
  hurts: 'a crawler: it never stops, or fails on null.',
  right: 'GET /events?page=3 of 3 → {"_links": {"first": {…}, "prev": {…}, "last": {…}}}',
  wrong: 'GET /events?page=3 of 3 → {"_links": {…, "next": null}}',
  scope: 'paginated',
  countsFromOne: true,
  see(check, { response, document: { links }, number, last }) {
    if (number === 1 && links.has('prev')) check.broken(response, 'no prev on the first page', shown(links.get('prev')))
    if (number === last && links.has('next'))
      check.broken(response, 'no next on the last page', shown(links.get('next')))
  },
}
