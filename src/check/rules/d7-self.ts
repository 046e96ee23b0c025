/** D7: the link to the page itself. */

import type { Answer } from '../answer.ts'
import { positionOf } from '../layout.ts'
import { isBroken, viewLink } from '../link-view.ts'
import { pagesBeyond } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D7: Rule = {
  id: 'D7',
  title: 'self names the page that is answered, never the one that was asked for.',
  why: 'It says which page this is, also where the request named none or one beyond the last. An echo of the request would break C7.',
  hurts: 'a client that stores self as the address of what it read.',
  right: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=3"}',
  wrong: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=99"}',
  scope: 'paginated',
  countsFromOne: true,
  watch: (trial) => ({ see: (answer, asked) => judgeSelf(trial, answer, positionOf(answer, asked, trial.subject)) }),
  async probe(trial) {
    const { last } = trial.layout
    const [beyond] = last === undefined ? [] : pagesBeyond(last)
    if (last !== undefined && beyond !== undefined) {
      const answer = await trial.subject.page(beyond)
      judgeSelf(trial, answer, positionOf(answer, last, trial.subject))
    }
  },
}

function judgeSelf(trial: Trial, answer: Answer, page: number): void {
  const { status, document } = answer
  if (status !== 200 || document?.linksKind !== 'an object') return
  const link = viewLink(document.links.get('self'), trial.subject.linkUrl)
  const expected = `self leads to ${trial.subject.linkUrl}?page=${page}`
  if (link === undefined) trial.broken(answer, expected, 'no self')
  else if (isBroken(link)) trial.broken(answer, expected, `it ${link.broken}`)
  else if (link.page !== page || link.flaw !== undefined) trial.broken(answer, expected, link.href)
}
