/** D15: one snapshot. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { HttpResponse } from '../http/response.ts'
import { lastByCount, pageNumberOf, samplePages } from '../layout.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const D15: Rule = {
  id: 'D15',
  title: 'Count, links and items of one answer come from one snapshot of the data.',
  why: 'A count that is read before the items, or after them, is the count of another moment.',
  hurts: 'a client that reads while others write: a page of 1001 items beside item_count 1000.',
  right: 'while items arrive: GET /events?page=3 → item_count 1235 with 235 items',
  wrong: 'while items arrive: GET /events?page=3 → item_count 1234 with 235 items',
  scope: 'paginated',
  countsFromOne: true,
  /** What does not fit together and stays so is wrong in another way (C2, C3, C5). Here it is about what moves. */
  async probe(check) {
    const pages = samplePages(check.layout.last ?? 1)
    for (const page of pages) {
      const response = await check.collection.page(page)
      const contradiction = contradictionIn(check, response, page)
      if (contradiction === undefined) continue
      const again = await check.collection.sendAgain(response.request)
      if (again.digest !== response.digest) check.broken(response, contradiction[0], contradiction[1])
      else check.skip('what does not fit together stays so: see C2, C3 and C5')
    }
  },
}

function contradictionIn(
  { collection }: RuleCheck,
  response: HttpResponse,
  requested: number,
): [expected: string, came: string] | undefined {
  const { count, items } = response.document ?? {}
  if (response.status !== 200 || count === undefined || items === undefined) return undefined
  const page = pageNumberOf(response, requested, collection)
  const last = lastByCount(count)
  const expected = page < last ? PAGE_SIZE : page === last ? count - PAGE_SIZE * (last - 1) : 0
  if (items.count !== expected)
    return [`${expected} items on page ${page} beside item_count ${count}`, `${items.count} items`]
  const linked = collection.linkedPage(response.document, 'last')
  return linked === undefined || linked === last
    ? undefined
    : [`last: page ${last} beside item_count ${count}`, `last: page ${linked}`]
}
