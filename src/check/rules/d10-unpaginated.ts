/** D10: collections without pages. */

import { UNPAGINATED_LIMIT } from '../../contract/page.ts'
import type { Answer } from '../answer.ts'
import { isBroken, viewLink } from '../link-view.ts'
import type { Rule } from '../rule.ts'
import { compareBytes } from '../same-bytes.ts'
import type { Trial } from '../trial.ts'

export const D10: Rule = {
  id: 'D10',
  title:
    'An unpaginated collection answers whole, with the bare self, whatever page says, and has at most 10,000 items.',
  why: 'Whoever declares a collection unpaginated promises that it stays small, and that page means nothing there.',
  hurts: 'a client that reads it in one request: it gets a part, an error or far too much.',
  right:
    'GET /venues?page=abc → {"_links": {"self": {"href": "https://api.example.com/venues"}}, "_embedded": {"venues": […]}}',
  wrong: 'GET /venues?page=abc → 400',
  scope: 'unpaginated',
  async probe(trial) {
    const { subject, layout } = trial
    judgeWhole(trial, layout.bare)
    for (const query of ['page=2', 'page=abc'])
      await compareBytes(trial, layout.bare, await subject.query(query), 'the bare URL')
  },
}

function judgeWhole(trial: Trial, answer: Answer): void {
  const { linkUrl } = trial.subject
  const { links, items } = answer.document ?? {}
  const self = viewLink(links?.get('self'), linkUrl)
  if (self === undefined) trial.broken(answer, `self leads to ${linkUrl}`, 'no self')
  else if (isBroken(self)) trial.broken(answer, `self leads to ${linkUrl}`, `it ${self.broken}`)
  else if (self.flaw !== undefined || self.page !== undefined)
    trial.broken(answer, `self leads to ${linkUrl}`, `it leads to ${self.href}`)
  if (items === undefined) trial.broken(answer, 'an array of items in _embedded', 'none')
  else if (items.count > UNPAGINATED_LIMIT)
    trial.broken(answer, `at most ${UNPAGINATED_LIMIT} items`, `${items.count} items`)
}
