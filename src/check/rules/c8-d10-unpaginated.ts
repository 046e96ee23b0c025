/** C8 and D10: with pages or without, but not both; and what a collection without pages looks like. */

import { UNPAGINATED_LIMIT } from '../../contract/page.ts'
import { isPaginated } from '../page/document.ts'
import type { Rule } from '../rule.ts'

export const C8: Rule = {
  id: 'C8',
  title: 'A collection is paginated in all its answers or in none.',
  why: 'Pagination applies only to collections that support it. A client tells the two apart by item_count, once.',
  hurts: 'a client that takes the collection for a whole one and gets a part of it.',
  right: 'GET /venues?page=2 → all venues, without item_count and page links, as GET /venues',
  wrong: 'GET /venues → all venues; GET /venues?page=2 → item_count, next and 500 of them',
  scope: 'envelope',
  see(check, { response, document }) {
    if (check.layout.kind === 'paginated' && !isPaginated(document))
      check.broken(response, 'item_count and page links, as on the other pages', 'neither')
  },
  async probe(check) {
    if (check.layout.kind !== 'unpaginated') return
    const response = await check.collection.page(2)
    if (response.status === 200 && response.document !== undefined && isPaginated(response.document))
      check.broken(response, 'no item_count and no page links, as without page', response.document.shown)
  },
}

export const D10: Rule = {
  id: 'D10',
  title:
    'An unpaginated collection answers whole, with the bare self, whatever page says, and has at most 10,000 items.',
  why: 'An unpaginated collection promises to stay small, and page means nothing there.',
  hurts: 'a client that reads it in one request: it gets a part, an error or far too much.',
  right:
    'GET /venues?page=abc → {"_links": {"self": {"href": "https://api.example.com/venues"}}, "_embedded": {"venues": […]}}',
  wrong: 'GET /venues?page=abc → 400',
  scope: 'unpaginated',
  async probe(check) {
    const { collection, layout } = check
    const { bare } = layout
    const items = bare.document?.items
    const self = collection.link(bare.document, 'self')
    const expected = `self leads to ${collection.linkUrl}`
    if (self === undefined) check.broken(bare, expected, 'no self')
    else if (self.href === undefined) check.broken(bare, expected, `it ${self.flaw}`)
    else if (self.flaw !== undefined || self.page !== undefined)
      check.broken(bare, expected, `it leads to ${self.href}`)
    if (items === undefined) check.broken(bare, 'an array of items in _embedded', 'none')
    else if (items.count > UNPAGINATED_LIMIT)
      check.broken(bare, `at most ${UNPAGINATED_LIMIT} items`, `${items.count} items`)
    for (const query of ['page=2', 'page=abc'])
      await check.compareBytes(bare, await collection.query(query), 'the bare URL')
  },
}
