/** D4: no link beyond the ends. */

import type { Answer } from '../answer.ts'
import { shown } from '../json-kind.ts'
import { expectedLast, positionOf } from '../layout.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D4: Rule = {
  id: 'D4',
  title: 'prev is absent on the first page and next on the last: absent, never null.',
  why: 'A crawler stops where next is absent. It cannot stop at a short page, because a last page can be full, nor at an empty one, because of C7.',
  hurts: 'a crawler: it never stops, or fails on null.',
  right: 'GET /events?page=3 of 3 → {"_links": {"first": {…}, "prev": {…}, "last": {…}}}',
  wrong: 'GET /events?page=3 of 3 → {"_links": {…, "next": null}}',
  scope: 'paginated',
  countsFromOne: true,
  watch: (trial) => ({ see: (answer, asked) => judgeEnds(trial, answer, asked) }),
}

function judgeEnds(trial: Trial, answer: Answer, asked: number): void {
  if (answer.status !== 200 || answer.document === undefined) return
  const page = positionOf(answer, asked, trial.subject)
  const last = expectedLast(trial.layout, answer.document)
  const { links } = answer.document
  if (page === 1 && links.has('prev')) trial.broken(answer, 'no prev on the first page', shown(links.get('prev')))
  if (page === last && links.has('next')) trial.broken(answer, 'no next on the last page', shown(links.get('next')))
}
