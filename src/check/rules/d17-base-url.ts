/** D17: nothing of a request reaches a link. */

import { type HttpResponse, statusLine } from '../http/response.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import { shown } from '../page/items.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { probedResponse } from '../shared-requests.ts'

export const D17: Rule = {
  id: 'D17',
  title: 'Links begin with the configured base URL: another Host or X-Forwarded-Host changes none.',
  why: 'A link that repeats what a header says can be poisoned: a cache then hands the attacker’s address to everybody.',
  hurts: 'everyone behind a shared cache or a proxy that passes headers on.',
  right: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://api.example.com/events?page=2"}',
  wrong: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://reams-check.invalid/events?page=2"}',
  scope: 'envelope',
  async probe(check) {
    const { collection } = check
    const before = await probedResponse(check)
    const plain = before.request
    const all = await collection.send({ ...plain, headers: { Host: UNKNOWN_HOST, ...FORWARDED } })
    // A server that refuses an unknown Host sends no poisoned link, but it may still trust the headers of a proxy.
    const response = all.status === 200 ? all : await collection.send({ ...plain, headers: FORWARDED })
    if (response.status === 200) judgeLinks(check, before, response)
    else if (response.status === 0) check.skip(`no answer to a request with X-Forwarded-Host: ${statusLine(response)}`)
  },
}

const UNKNOWN_HOST = 'reams-check.invalid'

const FORWARDED = {
  'X-Forwarded-Host': UNKNOWN_HOST,
  'X-Forwarded-Proto': 'ftp',
  'X-Forwarded-Port': '81',
  'X-Forwarded-Prefix': '/reams-check',
  Forwarded: `host=${UNKNOWN_HOST};proto=ftp`,
}

function judgeLinks(check: RuleCheck, plain: HttpResponse, response: HttpResponse): void {
  for (const [relation, link] of response.document?.links ?? []) {
    const before = plain.document?.links.get(relation)
    const [expected, came] = [shown(before), shown(link)]
    const isPageLink = [...PAGE_RELATIONS, 'self'].includes(relation)
    // Other links may change as they like.
    if (came.includes(UNKNOWN_HOST) || (isPageLink && before !== undefined && targetOf(expected) !== targetOf(came)))
      check.broken(response, `${relation} ${expected}, as without these headers`, `${relation} ${came}`)
  }
}

/** Numbers of pages move with the data, and a server on loopback may choose among the names of loopback. */
function targetOf(link: string): string {
  return link.replace(/\?page=[0-9]+/, '').replace(/\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/])/, '//loopback')
}
