/** C5: which links there are, and to which page each leads. */

import type { Answer } from '../answer.ts'
import type { Document, PageRelation } from '../document.ts'
import { expectedLast, positionOf } from '../layout.ts'
import { isBroken, viewLink } from '../link-view.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const C5: Rule = {
  id: 'C5',
  title:
    'first and last stand in every answer; first carries no page, every other link carries the number of its page.',
  why: 'A crawler follows next to the end, and a parallel one reads how far it has to go from last: ceil(item_count / 500), and 1 for an empty collection.',
  hurts: 'every crawler: it stops too early, runs in circles or asks for pages that are not there.',
  right: 'GET /events?page=2 of 1234 items → prev …?page=1, next …?page=3, last …?page=3, first …/events',
  wrong: 'GET /events?page=2 of 1234 items → prev …/events, without its page',
  scope: 'paginated',
  watch: (trial) => ({ see: (answer, asked) => judgeTargets(trial, answer, asked) }),
}

function judgeTargets(trial: Trial, answer: Answer, asked: number): void {
  const { status, document } = answer
  if (status !== 200 || document?.linksKind !== 'an object') return
  const page = positionOf(answer, asked, trial.subject)
  const last = expectedLast(trial.layout, document)
  judgeFirst(trial, answer, document)
  judge(trial, answer, document, 'last', last)
  // At the ends of the collection they are D4's matter.
  if (page > 1) judge(trial, answer, document, 'prev', page - 1)
  if (last !== undefined && page < last) judge(trial, answer, document, 'next', page + 1)
}

function judgeFirst(trial: Trial, answer: Answer, document: Document): void {
  const link = viewLink(document.links.get('first'), trial.subject.linkUrl)
  if (link === undefined) trial.broken(answer, 'a link first', 'none')
  else if (!isBroken(link) && link.page !== undefined)
    trial.broken(answer, 'a link first without a page parameter', `first leads to ${link.href}`)
}

/** What is malformed is C4's matter. */
function judge(trial: Trial, answer: Answer, document: Document, relation: PageRelation, target?: number): void {
  const link = viewLink(document.links.get(relation), trial.subject.linkUrl)
  const expected = `${relation} leads to page ${target}`
  if (link === undefined) trial.broken(answer, `a link ${relation}`, 'none')
  else if (isBroken(link) || Number.isNaN(link.page)) return
  else if (link.page === undefined) trial.broken(answer, `${expected}, by its number`, `${link.href}, without a page`)
  else if (target !== undefined && link.page !== target) trial.broken(answer, expected, `it leads to page ${link.page}`)
}
