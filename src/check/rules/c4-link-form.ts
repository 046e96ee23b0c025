/** C4: the form of a link. */

import type { Answer } from '../answer.ts'
import { PAGE_RELATIONS } from '../document.ts'
import { shown } from '../json-kind.ts'
import { isBroken, type LinkView, viewLink } from '../link-view.ts'
import { askWithUnknownParameter, FAMILIAR_QUERY, sizeQueries } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const C4: Rule = {
  id: 'C4',
  title:
    'first, prev, next and last are objects with one field, href: the collection’s own absolute URL, with at most ?page=<n>.',
  why: 'A link is to be followed as it is, from anywhere: a relative one needs a base, one to another host needs trust, and one with more parameters is another resource.',
  hurts: 'a client that follows links: it ends up elsewhere, or sends its token there.',
  right: '"next": {"href": "https://api.example.com/events?page=2"}',
  wrong: '"next": {"href": "/events?page=2&limit=500"}',
  scope: 'paginated',
  watch: (trial) => ({ see: (answer) => judgeLinks(trial, answer) }),
  /** Parameters that are none of the contract's must not find their way into a link. */
  async probe(trial) {
    judgeLinks(trial, await askWithUnknownParameter(trial))
    for (const query of [...sizeQueries(trial), FAMILIAR_QUERY]) judgeLinks(trial, await trial.subject.query(query))
  },
}

function judgeLinks(trial: Trial, answer: Answer): void {
  if (answer.status !== 200 || answer.document === undefined) return
  for (const relation of PAGE_RELATIONS) {
    const link = viewLink(answer.document.links.get(relation), trial.subject.linkUrl)
    const flaw = link === undefined ? undefined : isBroken(link) ? link.broken : (link.flaw ?? fieldFlaw(link))
    if (flaw !== undefined) trial.broken(answer, expected(trial, relation), `${relation} ${flaw}`)
  }
}

function fieldFlaw({ otherFields }: LinkView): string | undefined {
  return otherFields.length === 0 ? undefined : `has other fields beside href: ${shown(otherFields)}`
}

function expected({ subject }: Trial, relation: string): string {
  return `${relation} is {"href": "${subject.linkUrl}${relation === 'first' ? '' : '?page=<n>'}"}`
}
