/** D7: the link to the page itself. */

import type { HttpResponse } from '../http/response.ts'
import { pageNumberOf } from '../layout.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import { pagesBeyond } from '../shared-requests.ts'

export const D7: Rule = {
  id: 'D7',
  title: 'self names the page that is answered, never the one that was asked for.',
  why: 'It says which page this is, even if the request named none or one beyond the last. An echo of the request would break C7.',
  hurts: 'a client that stores self as the address of what it read.',
  right: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=3"}',
  wrong: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=99"}',
  scope: 'paginated',
  countsFromOne: true,
  watch: (check) => ({ see: (response, requested) => judgeSelf(check, response, requested) }),
  async probe(check) {
    const { last } = check.layout
    const [beyond] = last === undefined ? [] : pagesBeyond(last)
    if (last !== undefined && beyond !== undefined) judgeSelf(check, await check.collection.page(beyond), last)
  },
}

function judgeSelf(check: RuleCheck, response: HttpResponse, requested: number): void {
  const { collection } = check
  const { status, document } = response
  if (status !== 200 || document?.linksKind !== 'an object') return
  const page = pageNumberOf(response, requested, collection)
  const link = collection.link(document, 'self')
  if (link?.page !== page || link.flaw !== undefined)
    check.broken(
      response,
      `self leads to ${collection.linkUrl}?page=${page}`,
      link === undefined ? 'no self' : (link.href ?? `it ${link.flaw}`),
    )
}
