/** C3: 500 items a page. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Difference, Rule, RuleCheck } from '../rule.ts'
import { SIZE_PARAMETERS, sizeQueries } from '../shared-requests.ts'

export const C3: Rule = {
  id: 'C3',
  title: 'Every page but the last holds exactly 500 items, and no parameter or header changes that.',
  why: 'With a fixed size, item_count alone says how many pages there are, and page 7 is the same items for everybody.',
  hurts: 'a client that reads pages in parallel by their numbers: it misses items, or reads them twice.',
  right: 'GET /events?limit=10 → the 500 items of page 1',
  wrong: 'GET /events?limit=10 → 10 items',
  scope: 'paginated',
  countsFromOne: true,
  see(check, { response, document, number, last }) {
    const items = document.items?.count
    if (items === undefined) check.obstacle = 'there is no array of items in _embedded (D6)'
    else if (items > PAGE_SIZE) check.broken(response, `at most ${PAGE_SIZE} items`, `${items} items`)
    else if (last !== undefined && number < last && items !== PAGE_SIZE)
      check.broken(response, `${PAGE_SIZE} items on page ${number} of ${last}`, `${items} items`)
  },
  async probe(check) {
    for (const query of sizeQueries(check)) {
      const response = await check.collection.query(query)
      // A server that refuses one parameter may still let clients change the size by another one.
      const isResized = response.document?.items?.count !== check.layout.bare.document?.items?.count
      if (response.status !== 200 || isResized) await tryOneByOne(check, query)
      else await compareSize(check, response)
    }
    await compareSize(check, await check.collection.bare(SIZE_HEADERS))
  },
}

/** How clients of other systems ask for a size in a header. */
const SIZE_HEADERS = {
  Prefer: 'odata.maxpagesize=7, max-page-size=7',
  Range: 'items=0-6',
  'X-Page-Size': '7',
  'X-Per-Page': '7',
}

/** Tries the parameters of a query one by one, to name those that matter; then all of them, should none matter alone. */
async function tryOneByOne(check: RuleCheck, query: string): Promise<void> {
  const before = check.findings.length
  const [page, ...sizes] = query.split('&')
  for (const size of sizes.slice(0, SIZE_PARAMETERS.length))
    await compareSize(check, await check.collection.query(`${page}&${size}`))
  if (check.findings.length === before) await compareSize(check, await check.collection.query(query))
}

function compareSize(check: RuleCheck, response: HttpResponse): Promise<void> {
  return check.compare(check.layout.bare, response, (before, after) => sizeDifference(check, before, after))
}

/** Whether a parameter may be refused is D11's matter. */
function sizeDifference(
  { collection }: RuleCheck,
  { document: a }: HttpResponse,
  { status, document: b }: HttpResponse,
): Difference | undefined {
  if (status !== 200 || a?.items === undefined || b?.items === undefined) return undefined
  const [before, after] = [a, b].map((document) => collection.linkedPage(document, 'last'))
  if (a.items.count !== b.items.count)
    return { expected: `${a.items.count} items, as without it`, came: `${b.items.count} items` }
  if (before !== after) return { expected: `last: page ${before}, as without it`, came: `last: page ${after}` }
  if (a.itemCount !== b.itemCount)
    return { expected: `item_count ${a.itemCount}, as without it`, came: `item_count ${b.itemCount}` }
  if (a.items.contents.join() === b.items.contents.join()) return undefined
  return { expected: 'the same items as without it', came: 'other items' }
}
