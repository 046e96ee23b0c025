/** D15: one snapshot. */

import { PAGE_SIZE } from '../../contract/page.ts'
import { lastByCount, type Page, pageOf, samplePages } from '../layout.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const D15: Rule = {
  id: 'D15',
  title: 'Count, links and items of one answer come from one snapshot of the data.',
  why: 'A count that is read before the items, or after them, is the count of another moment.',
  hurts: 'a client that reads while others write: a page of 1001 items with item_count 1000.',
  right: 'while items arrive: GET /events?page=3 → item_count 1235 with 235 items',
  wrong: 'while items arrive: GET /events?page=3 → item_count 1234 with 235 items',
  scope: 'paginated',
  countsFromOne: true,
  /** What does not fit together and stays so is wrong in another way (C2, C3, C5). Here it is about what moves. */
  async probe(check) {
    const { collection, layout } = check
    for (const requested of samplePages(layout.last ?? 1)) {
      const page = pageOf(await collection.page(requested), requested, collection, layout)
      const contradiction = page && contradictionIn(check, page)
      if (page === undefined || contradiction === undefined) continue
      const again = await collection.sendAgain(page.response.request)
      if (again.digest !== page.response.digest) check.broken(page.response, ...contradiction)
      else check.skip('what does not fit together stays so: see C2, C3 and C5')
    }
  },
}

function contradictionIn({ collection }: RuleCheck, page: Page): [expected: string, came: string] | undefined {
  const { document, number } = page
  const { count, items } = document
  if (count === undefined || items === undefined) return undefined
  const last = lastByCount(count)
  const expected = number < last ? PAGE_SIZE : number === last ? count - PAGE_SIZE * (last - 1) : 0
  if (items.count !== expected)
    return [`${expected} items on page ${number} beside item_count ${count}`, `${items.count} items`]
  const linked = collection.linkedPage(document, 'last')
  if (linked === undefined || linked === last) return undefined
  return [`last: page ${last} beside item_count ${count}`, `last: page ${linked}`]
}
