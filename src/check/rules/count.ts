/** C2, C3 and D15: the exact count, 500 items a page, and both from one snapshot. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { HttpResponse } from '../http/response.ts'
import { expectedLast, lastByCount, type Page, pageOf, samplePages } from '../layout.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import { PageMemory, RepeatFinder } from '../page/repeats.ts'
import type { Difference, DifferenceOf, Rule, RuleCheck, Watcher } from '../rule.ts'
import { SIZE_PARAMETERS, sizeQueries } from '../shared-requests.ts'

export const C2: Rule = {
  id: 'C2',
  title: 'item_count is the exact number of items in the whole collection, on every page.',
  why: 'A client that knows the count knows when it has everything, and can show its progress. An estimate, a count of the page or a count from a cache is worse than none.',
  affects:
    'anyone who sizes a buffer, draws a progress bar or checks that nothing is missing: the items do not add up.',
  right: `GET /events?page=3 → {"item_count": 1234, …} with the 234 items 1001 to 1234`,
  wrong: `GET /events?page=3 → {"item_count": 234, …}: the count of the page`,
  scope: 'paginated',
  countsFromOne: true,
  watch: watchCounts,
  async probe(check) {
    for (const suspect of check.suspects) await check.compare(check.layout.bare, suspect, countDifference)
  },
}

/** Of pages with another count than the first response: the others will be as wrong. */
const MAX_SUSPECTS = 3

const countDifference: DifferenceOf = ({ document: first }, { document }) =>
  first?.count === undefined || document?.count === undefined || first.count === document.count
    ? undefined
    : { expected: `item_count ${first.count}, as in the first response`, got: String(document.count) }

function watchCounts(check: RuleCheck): Watcher {
  const { layout } = check
  const memory = new PageMemory()
  const repeats = new RepeatFinder()
  /** How many pages were counted, and the number of the last of them: they come in ascending order. */
  let [pages, lastPage] = [0, 0]
  /** Items on page 1 if that is not the last one. */
  let pageSize: number = PAGE_SIZE
  let sum = 0
  let firstCount: number | undefined
  let last: HttpResponse | undefined

  function judgeCount({ response, document: { itemCount, count, links } }: Page): void {
    if (itemCount === undefined && PAGE_RELATIONS.some((name) => links.has(name)))
      check.broken(response, 'item_count beside the page links', 'no item_count')
    if (typeof itemCount === 'number' && itemCount < 0)
      check.broken(response, 'an item_count of at least 0', String(itemCount))
    // No collection is that large, and nothing can be computed with it.
    else if (Number.isInteger(itemCount) && count === undefined)
      check.broken(response, 'the number of the items as item_count', String(itemCount))
    firstCount ??= count
    if (count !== undefined && count !== firstCount && check.suspects.length < MAX_SUSPECTS)
      check.suspects.push(response)
  }

  /** Without an array there is nothing to count. Whatever else stands there may hold the items. */
  function judgeMissing({ response, document: { embedded, embeddedKind, count } }: Page): void {
    if (embeddedKind === 'an object' && embedded.length === 0 && count !== undefined)
      check.broken(response, `items in _embedded, beside item_count ${count}`, 'an empty object')
    else check.obstacle = 'there is no array of items in _embedded (D6)'
  }

  function countItems({ response, document: { items }, requested, number }: Page): void {
    // A page that was read twice, bare and by its number, is counted once; another page in its place is C6's matter.
    if (items === undefined || requested <= lastPage || number !== requested) return
    lastPage = requested
    pages++
    sum += items.count
    // A whole page that comes again is C6's matter.
    if (memory.earlier(requested, items) === undefined) repeats.add(requested, items)
    if (requested === 1 && layout.last !== 1) pageSize = items.count
    if (requested === layout.last) last = response
  }

  /** The pages before the last one are as long as the first; C3 says whether that is 500. */
  function judgeSum(response: HttpResponse): void {
    const { count, items } = response.document ?? {}
    if (layout.last === undefined || count === undefined || items === undefined) return
    const total = pages === layout.last ? sum : pageSize * (layout.last - 1) + items.count
    if (total === count) return
    const got = `item_count ${count}, and ${total} items on ${layout.last} ${layout.last === 1 ? 'page' : 'pages'}`
    const isEvidentAlone =
      items.count !== count - PAGE_SIZE * (layout.last - 1) &&
      pageSize === PAGE_SIZE &&
      lastByCount(count) === expectedLast(layout, response.document) &&
      lastByCount(count) === layout.last
    if (isEvidentAlone) check.broken(response, `item_count ${total}`, got)
    else check.differs(response, `item_count ${total}`, got)
  }

  return {
    see(page) {
      judgeCount(page)
      if (page.document.items === undefined && page.document.count !== 0) judgeMissing(page)
      countItems(page)
    },
    end() {
      if (last !== undefined) judgeSum(last)
      for (const { repeat, isDoubt } of repeats.found()) {
        const expected = `each item once; item ${repeat.earlierItem} of page ${repeat.earlierPage} is the same`
        const got = `item ${repeat.item} of page ${repeat.page} is the same ${repeat.by}`
        const evidence = { request: check.collection.pageRequest(repeat.page) }
        if (isDoubt) check.doubt(evidence, expected, got)
        else check.differs(evidence, expected, got)
      }
    },
  }
}

export const C3: Rule = {
  id: 'C3',
  title: 'Every page but the last has exactly 500 items, and no parameter or header changes that.',
  why: 'With a fixed size, item_count alone says how many pages there are, and page 7 has the same items for everybody.',
  affects: 'a client that reads pages in parallel by their numbers: it misses items, or reads them twice.',
  right: 'GET /events?limit=10 → the 500 items of page 1',
  wrong: 'GET /events?limit=10 → 10 items',
  scope: 'paginated',
  countsFromOne: true,
  see(check, { response, document, number, last }) {
    // An empty collection needs no array.
    const items = document.items?.count ?? (document.count === 0 ? 0 : undefined)
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
    return { expected: `${a.items.count} items, as without it`, got: `${b.items.count} items` }
  if (before !== after) return { expected: `last: page ${before}, as without it`, got: `last: page ${after}` }
  if (a.itemCount !== b.itemCount)
    return { expected: `item_count ${a.itemCount}, as without it`, got: `item_count ${b.itemCount}` }
  if (a.items.contents.join() === b.items.contents.join()) return undefined
  return { expected: 'the same items as without it', got: 'other items' }
}

export const D15: Rule = {
  id: 'D15',
  title: 'Count, links and items of one response come from one snapshot of the data.',
  why: 'A count that is read before or after the items may no longer fit them.',
  affects: 'a client that reads while others write: a page of 1001 items with item_count 1000.',
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
      else check.skip('count, links and items contradict each other every time: see C2, C3 and C5')
    }
  },
}

function contradictionIn({ collection }: RuleCheck, page: Page): [expected: string, got: string] | undefined {
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
