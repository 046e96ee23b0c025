/** C3: 500 items a page. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { Answer } from '../answer.ts'
import { expectedLast, linkedPage, positionOf } from '../layout.ts'
import { SIZE_PARAMETERS, sizeQuery, sizesToTry } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

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
    for (const size of sizesToTry(trial)) {
      const answer = await trial.subject.query(sizeQuery(size))
      if (differenceFrom(trial.layout.bare, answer, trial) !== undefined) await nameParameters(trial, size)
    }
    compare(trial, await trial.subject.bare(SIZE_HEADERS))
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
  if (status !== 200 || document === undefined || items === undefined) return
  const page = positionOf(answer, asked, trial.subject)
  const last = expectedLast(trial.layout, document)
  if (items > PAGE_SIZE) trial.broken(answer, `at most ${PAGE_SIZE} items`, `${items} items`)
  else if (last !== undefined && page < last && items !== PAGE_SIZE)
    trial.broken(answer, `${PAGE_SIZE} items on page ${page} of ${last}`, `${items} items`)
}

/** Tries the parameters one by one, to name those that matter. */
async function nameParameters(trial: Trial, size: number): Promise<void> {
  const before = trial.findings.length
  for (const name of SIZE_PARAMETERS) compare(trial, await trial.subject.query(`${name}=${size}`))
  if (trial.findings.length === before) compare(trial, await trial.subject.query(sizeQuery(size)))
}

function compare(trial: Trial, answer: Answer): void {
  const difference = differenceFrom(trial.layout.bare, answer, trial)
  if (difference !== undefined) trial.differs(answer, difference.expected, difference.came)
}

/** A server that refuses the parameter lets nobody change the size; whether it may refuse is D11's matter. */
function differenceFrom(bare: Answer, answer: Answer, { subject }: Trial) {
  const [a, b] = [bare.document, answer.document]
  if (answer.status !== 200 || a?.items === undefined || b?.items === undefined) return undefined
  if (a.items.count !== b.items.count)
    return { expected: `${a.items.count} items, as without it`, came: `${b.items.count} items` }
  const [before, after] = [a, b].map((document) => linkedPage(document, 'last', subject.linkUrl))
  return before === after ? undefined : { expected: `last: page ${before}, as without it`, came: `last: page ${after}` }
}
