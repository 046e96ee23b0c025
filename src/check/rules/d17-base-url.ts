/** D17: nothing of a request reaches a link. */

import { type Answer, statusLine } from '../answer.ts'
import { PAGE_RELATIONS } from '../document.ts'
import { shown } from '../json-kind.ts'
import { probedPage } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D17: Rule = {
  id: 'D17',
  title: 'Links begin with the configured base URL: another Host or X-Forwarded-Host changes none.',
  why: 'A link that repeats what a header says can be poisoned: a cache then hands the attacker’s address to everybody.',
  hurts: 'everyone behind a shared cache or a proxy that passes headers on.',
  right: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://api.example.com/events?page=2"}',
  wrong: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://reams-check.invalid/events?page=2"}',
  scope: 'envelope',
  async probe(trial) {
    const { subject, layout } = trial
    const plain = layout.kind === 'paginated' ? subject.askPage(probedPage(trial)) : layout.bare.ask
    const before = await subject.ask(plain)
    const all = await subject.ask({ ...plain, headers: { Host: STRANGE_HOST, ...FORWARDED } })
    // A server that refuses a strange host answers no poisoned link; what comes through a proxy may still be believed.
    const answer = all.status === 200 ? all : await subject.ask({ ...plain, headers: FORWARDED })
    if (answer.status === 200) judgeLinks(trial, before, answer)
    else if (answer.status === 0) trial.skip(`no answer to a request with X-Forwarded-Host: ${statusLine(answer)}`)
  },
}

const STRANGE_HOST = 'reams-check.invalid'

const FORWARDED = {
  'X-Forwarded-Host': STRANGE_HOST,
  'X-Forwarded-Proto': 'ftp',
  'X-Forwarded-Port': '81',
  'X-Forwarded-Prefix': '/reams-check',
  Forwarded: `host=${STRANGE_HOST};proto=ftp`,
}

function judgeLinks(trial: Trial, plain: Answer, answer: Answer): void {
  for (const [relation, link] of answer.document?.links ?? []) {
    const before = plain.document?.links.get(relation)
    const [expected, came] = [shown(before), shown(link)]
    const isPageLink = [...PAGE_RELATIONS, 'self'].includes(relation)
    // Other links may change as they like.
    if (came.includes(STRANGE_HOST) || (isPageLink && before !== undefined && placeOf(expected) !== placeOf(came)))
      trial.broken(answer, `${relation} ${expected}, as without these headers`, `${relation} ${came}`)
  }
}

/** Numbers of pages move with the data, and a server on loopback may choose among the names of loopback. */
function placeOf(link: string): string {
  return link.replace(/\?page=[0-9]+/, '').replace(/\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/])/, '//loopback')
}
