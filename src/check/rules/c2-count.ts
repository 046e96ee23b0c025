/** C2: the exact count. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { HttpResponse } from '../http/response.ts'
import { expectedLast, lastByCount, type Page } from '../layout.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import { PageMemory } from '../page/fingerprint-table.ts'
import { RepeatFinder } from '../page/repeats.ts'
import type { DifferenceOf, Rule, RuleCheck, Watcher } from '../rule.ts'

export const C2: Rule = {
  id: 'C2',
  title: 'item_count is the exact number of items in the whole collection, on every page.',
  why: 'A client that knows the count knows when it has everything, and can show its progress. An estimate, a count of the page or a count from a cache is worse than none.',
  hurts: 'anyone who sizes a buffer, draws a progress bar or checks that nothing is missing: the items do not add up.',
  right: `GET /events?page=3 → {"item_count": 1234, …} with the 234 items 1001 to 1234`,
  wrong: `GET /events?page=3 → {"item_count": 234, …}: the count of the page`,
  scope: 'paginated',
  countsFromOne: true,
  watch: (check) => new CountWatcher(check),
  async probe(check) {
    for (const suspect of check.suspects) await check.compare(check.layout.bare, suspect, countDifference)
  },
}

/** Of pages with another count than the first response: the others will be as wrong. */
const MAX_SUSPECTS = 3

const countDifference: DifferenceOf = ({ document: first }, { document }) =>
  first?.count === undefined || document?.count === undefined || first.count === document.count
    ? undefined
    : { expected: `item_count ${first.count}, as in the first answer`, came: String(document.count) }

class CountWatcher implements Watcher {
  readonly #check: RuleCheck
  readonly #memory = new PageMemory()
  readonly #repeats = new RepeatFinder()
  /** How many pages were counted, and the number of the last of them: they come in ascending order. */
  #pages = 0
  #lastPage = 0
  /** Items on page 1 if that is not the last one. */
  #pageSize: number = PAGE_SIZE
  #sum = 0
  #firstCount: number | undefined
  #last: HttpResponse | undefined

  constructor(check: RuleCheck) {
    this.#check = check
  }

  see(page: Page): void {
    this.#judgeCount(page)
    if (page.document.items === undefined && page.document.count !== 0) this.#judgeMissing(page)
    this.#countItems(page)
  }

  end(): void {
    if (this.#last !== undefined) this.#judgeSum(this.#last)
    for (const { repeat, isDoubt } of this.#repeats.found()) {
      const expected = `each item once; item ${repeat.earlierItem} of page ${repeat.earlierPage} is the same`
      const came = `item ${repeat.item} of page ${repeat.page} is the same ${repeat.by}`
      const evidence = { request: this.#check.collection.pageRequest(repeat.page) }
      if (isDoubt) this.#check.doubt(evidence, expected, came)
      else this.#check.differs(evidence, expected, came)
    }
  }

  #judgeCount({ response, document: { itemCount, count, links } }: Page): void {
    const check = this.#check
    if (itemCount === undefined && PAGE_RELATIONS.some((name) => links.has(name)))
      check.broken(response, 'item_count beside the page links', 'no item_count')
    if (typeof itemCount === 'number' && itemCount < 0)
      check.broken(response, 'an item_count of at least 0', String(itemCount))
    // No collection is that large, and nothing can be computed with it.
    else if (Number.isInteger(itemCount) && count === undefined)
      check.broken(response, 'the number of the items as item_count', String(itemCount))
    this.#firstCount ??= count
    if (count !== undefined && count !== this.#firstCount && check.suspects.length < MAX_SUSPECTS)
      check.suspects.push(response)
  }

  /** Without an array there is nothing to count. Whatever else stands there may hold the items. */
  #judgeMissing({ response, document: { embedded, embeddedKind, count } }: Page): void {
    if (embeddedKind === 'an object' && embedded.length === 0 && count !== undefined)
      this.#check.broken(response, `items in _embedded, beside item_count ${count}`, 'an empty object')
    else this.#check.obstacle = 'there is no array of items in _embedded (D6)'
  }

  #countItems({ response, document: { items }, requested, number }: Page): void {
    const { last } = this.#check.layout
    // A page that was read twice, bare and by its number, is counted once; another page in its place is C6's matter.
    if (items === undefined || requested <= this.#lastPage || number !== requested) return
    this.#lastPage = requested
    this.#pages++
    this.#sum += items.count
    // A whole page that comes again is C6's matter.
    if (this.#memory.earlier(requested, items) === undefined) this.#repeats.add(requested, items)
    if (requested === 1 && last !== 1) this.#pageSize = items.count
    if (requested === last) this.#last = response
  }

  /** The pages before the last one are as long as the first; C3 says whether that is 500. */
  #judgeSum(response: HttpResponse): void {
    const { layout } = this.#check
    const { count, items } = response.document ?? {}
    if (layout.last === undefined || count === undefined || items === undefined) return
    const hasSeenAll = this.#pages === layout.last
    const sum = hasSeenAll ? this.#sum : this.#pageSize * (layout.last - 1) + items.count
    if (sum === count) return
    const came = `item_count ${count}, and ${sum} items on ${layout.last} ${layout.last === 1 ? 'page' : 'pages'}`
    const isEvidentAlone =
      items.count !== count - PAGE_SIZE * (layout.last - 1) &&
      this.#pageSize === PAGE_SIZE &&
      lastByCount(count) === expectedLast(layout, response.document) &&
      lastByCount(count) === layout.last
    if (isEvidentAlone) this.#check.broken(response, `item_count ${sum}`, came)
    else this.#check.differs(response, `item_count ${sum}`, came)
  }
}
