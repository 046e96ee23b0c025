/** D7: the link to the page itself. */

import { type Page, pageOf } from '../layout.ts'
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
  see: judgeSelf,
  async probe(check) {
    const { layout, collection } = check
    const [beyond] = layout.last === undefined ? [] : pagesBeyond(layout.last)
    if (layout.last === undefined || beyond === undefined) return
    const page = pageOf(await collection.page(beyond), layout.last, collection, layout)
    if (page !== undefined) judgeSelf(check, page)
  },
}

function judgeSelf(check: RuleCheck, { response, document, number }: Page): void {
  const { collection } = check
  const link = collection.link(document, 'self')
  if (document.linksKind !== 'an object' || (link?.page === number && link.flaw === undefined)) return
  const came = link === undefined ? 'no self' : (link.href ?? `it ${link.flaw}`)
  check.broken(response, `self leads to ${collection.linkUrl}?page=${number}`, came)
}
