/** C3: 500 items a page. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { Answer } from '../answer.ts'
import { expectedLast, linkedPage, positionOf } from '../layout.ts'
import { SIZE_PARAMETERS, sizeQueries } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { DifferenceOf, Trial } from '../trial.ts'

export const C3: Rule = {
  id: 'C3',
  title: 'Every page but the last holds exactly 500 items, and no parameter or header changes that.',
  why: 'With a fixed size, item_count alone says how many pages there are, and page 7 is the same items for everybody.',
  hurts: 'a client that reads pages in parallel by their numbers: it misses items, or reads them twice.',
  right: 'GET /events?limit=10 → the 500 items of page 1',
  wrong: 'GET /events?limit=10 → 10 items',
  scope: 'paginated',
  countsFromOne: true,
  watch: (trial) => ({ see: (answer, asked) => judgeLength(trial, answer, asked) }),
  async probe(trial) {
    for (const query of sizeQueries(trial)) {
      const answer = await trial.subject.query(query)
      // A server that refuses a parameter lets nobody change the size by it, but maybe by another one.
      const isResized = answer.document?.items?.count !== trial.layout.bare.document?.items?.count
      if (answer.status !== 200 || isResized) await tryOneByOne(trial, query)
      else await trial.compare(trial.layout.bare, answer, differenceFrom(trial))
    }
    await trial.compare(trial.layout.bare, await trial.subject.bare(SIZE_HEADERS), differenceFrom(trial))
  },
}

/** How clients of other systems ask for a size in a header. */
const SIZE_HEADERS = {
  Prefer: 'odata.maxpagesize=7, max-page-size=7',
  Range: 'items=0-6',
  'X-Page-Size': '7',
  'X-Per-Page': '7',
}

function judgeLength(trial: Trial, answer: Answer, asked: number): void {
  const { status, document } = answer
  const items = document?.items?.count
  if (status !== 200 || document === undefined) return
  if (items === undefined) {
    trial.cannot('there is no array of items in _embedded (D6)')
    return
  }
  const page = positionOf(answer, asked, trial.subject)
  const last = expectedLast(trial.layout, document)
  if (items > PAGE_SIZE) trial.broken(answer, `at most ${PAGE_SIZE} items`, `${items} items`)
  else if (last !== undefined && page < last && items !== PAGE_SIZE)
    trial.broken(answer, `${PAGE_SIZE} items on page ${page} of ${last}`, `${items} items`)
}

/** Tries the parameters of a query one by one, to name those that matter; then all of them, should none matter alone. */
async function tryOneByOne(trial: Trial, query: string): Promise<void> {
  const before = trial.findings.length
  const [page, ...sizes] = query.split('&')
  for (const size of sizes.slice(0, SIZE_PARAMETERS.length))
    await trial.compare(trial.layout.bare, await trial.subject.query(`${page}&${size}`), differenceFrom(trial))
  if (trial.findings.length === before)
    await trial.compare(trial.layout.bare, await trial.subject.query(query), differenceFrom(trial))
}

/** Whether a parameter may be refused is D11's matter. */
function differenceFrom({ subject }: Trial): DifferenceOf {
  return (bare, answer) => {
    const [a, b] = [bare.document, answer.document]
    if (answer.status !== 200 || a?.items === undefined || b?.items === undefined) return undefined
    const [before, after] = [a, b].map((document) => linkedPage(document, 'last', subject.linkUrl))
    if (a.items.count !== b.items.count)
      return { expected: `${a.items.count} items, as without it`, came: `${b.items.count} items` }
    if (before !== after) return { expected: `last: page ${before}, as without it`, came: `last: page ${after}` }
    if (a.itemCount !== b.itemCount)
      return { expected: `item_count ${a.itemCount}, as without it`, came: `item_count ${b.itemCount}` }
    const isSame = JSON.stringify(a.items.contents) === JSON.stringify(b.items.contents)
    return isSame ? undefined : { expected: 'the same items as without it', came: 'other items' }
  }
}
