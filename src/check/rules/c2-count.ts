/** C2: the exact count. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { Answer } from '../answer.ts'
import { type Document, PAGE_RELATIONS } from '../document.ts'
import { expectedLast, lastByCount, positionOf } from '../layout.ts'
import { PageMemory } from '../page-memory.ts'
import { RepeatFinder } from '../repeats.ts'
import type { Rule, Watcher } from '../rule.ts'
import type { DifferenceOf, Trial } from '../trial.ts'

export const C2: Rule = {
  id: 'C2',
  title: 'item_count is the exact number of items in the whole collection, on every page.',
  why: 'A client that knows the count knows when it has everything, and can show how far it is. An estimate, a count of the page or a count from a cache is worse than none.',
  hurts: 'whoever sizes a buffer, draws a progress bar or checks that nothing is missing: the items do not add up.',
  right: `GET /events?page=3 → {"item_count": 1234, …} with the 234 items 1001 to 1234`,
  wrong: `GET /events?page=3 → {"item_count": 234, …}: the count of the page`,
  scope: 'paginated',
  countsFromOne: true,
  watch: (trial) => new CountWatcher(trial),
  async probe(trial) {
    for (const suspect of trial.suspects.slice(0, MAX_SUSPECTS))
      await trial.compare(trial.layout.bare, suspect, countDifference)
  },
}

/** Of pages with another count than the first answer: the others will be as wrong. */
const MAX_SUSPECTS = 3

const countDifference: DifferenceOf = ({ document: first }, { document }) =>
  first?.count === undefined || document?.count === undefined || first.count === document.count
    ? undefined
    : { expected: `item_count ${first.count}, as in the first answer`, came: String(document.count) }

class CountWatcher implements Watcher {
  readonly #trial: Trial
  readonly #memory = new PageMemory()
  readonly #repeats = new RepeatFinder()
  /** How many pages were counted, and the number of the last of them: they come in ascending order. */
  #pages = 0
  #lastPage = 0
  /** Items on page 1 where that is not the last one. */
  #pageSize: number = PAGE_SIZE
  #sum = 0
  #first: Answer | undefined
  #last: Answer | undefined

  constructor(trial: Trial) {
    this.#trial = trial
  }

  see(answer: Answer, asked: number): void {
    const { document, status } = answer
    if (status !== 200 || document === undefined || document.kind !== 'an object') return
    const hasPageLink = PAGE_RELATIONS.some((name) => document.links.has(name))
    if (document.itemCount === undefined && hasPageLink)
      this.#trial.broken(answer, 'item_count beside the page links', 'no item_count')
    if (typeof document.itemCount === 'number' && document.itemCount < 0)
      this.#trial.broken(answer, 'an item_count of at least 0', String(document.itemCount))
    // No collection is that large, and nothing can be computed with it.
    else if (Number.isInteger(document.itemCount) && document.count === undefined)
      this.#trial.broken(answer, 'the number of the items as item_count', String(document.itemCount))
    this.#compareCount(answer)
    if (document.items === undefined && document.count !== 0) this.#judgeMissing(answer, document)
    this.#countItems(answer, asked)
  }

  /** Without an array there is nothing to count. Whatever else stands there may hold the items. */
  #judgeMissing(answer: Answer, { embedded, embeddedKind, count }: Document): void {
    if (embeddedKind === 'an object' && embedded.length === 0 && count !== undefined)
      this.#trial.broken(answer, `items in _embedded, beside item_count ${count}`, 'an empty object')
    else this.#trial.cannot('there is no array of items in _embedded (D6)')
  }

  end(): void {
    const { subject } = this.#trial
    if (this.#last !== undefined) this.#judgeSum(this.#last)
    for (const { repeat, isDoubt } of this.#repeats.found()) {
      const expected = `each item once; item ${repeat.earlierItem} of page ${repeat.earlierPage} stands there already`
      const came = `item ${repeat.item} of page ${repeat.page} is the same ${repeat.by}`
      const evidence = { ask: subject.askPage(repeat.page) }
      if (isDoubt) this.#trial.doubt(evidence, expected, came)
      else this.#trial.differs(evidence, expected, came)
    }
  }

  #compareCount(answer: Answer): void {
    this.#first ??= answer
    const before = this.#first.document?.count
    const count = answer.document?.count
    if (before !== undefined && count !== undefined && count !== before && this.#trial.suspects.length < MAX_SUSPECTS)
      this.#trial.suspects.push(answer)
  }

  #countItems(answer: Answer, asked: number): void {
    const { layout, subject } = this.#trial
    const items = answer.document?.items
    // The page that was asked for twice, bare and by its number, is counted once; another page in its place is C6's matter.
    if (items === undefined || asked <= this.#lastPage || positionOf(answer, asked, subject) !== asked) return
    this.#lastPage = asked
    this.#pages++
    this.#sum += items.count
    // A whole page that comes again is C6's matter.
    if (this.#memory.earlier(asked, items) === undefined) this.#repeats.add(asked, items)
    if (asked === 1 && layout.last !== 1) this.#pageSize = items.count
    if (asked === layout.last) this.#last = answer
  }

  /** The pages before the last one are as long as the first; C3 says whether that is 500. */
  #judgeSum(answer: Answer): void {
    const { layout } = this.#trial
    const { count, items } = answer.document ?? {}
    if (layout.last === undefined || count === undefined || items === undefined) return
    const hasSeenAll = this.#pages === layout.last
    const sum = hasSeenAll ? this.#sum : this.#pageSize * (layout.last - 1) + items.count
    if (sum === count) return
    const came = `item_count ${count}, and ${sum} items on ${layout.last} ${layout.last === 1 ? 'page' : 'pages'}`
    const isEvidentAlone =
      items.count !== count - PAGE_SIZE * (layout.last - 1) &&
      this.#pageSize === PAGE_SIZE &&
      lastByCount(count) === expectedLast(layout, answer.document) &&
      lastByCount(count) === layout.last
    if (isEvidentAlone) this.#trial.broken(answer, `item_count ${sum}`, came)
    else this.#trial.differs(answer, `item_count ${sum}`, came)
  }
}
