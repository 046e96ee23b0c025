/** D15: one snapshot. */

import { PAGE_SIZE } from '../../contract/page.ts'
import type { Answer } from '../answer.ts'
import { lastByCount, linkedPage, positionOf, samplePages } from '../layout.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

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
  async probe(trial) {
    const pages = samplePages(trial.layout.last ?? 1)
    for (const page of pages) {
      const answer = await trial.subject.page(page)
      const contradiction = contradictionIn(trial, answer, page)
      if (contradiction === undefined) continue
      const again = await trial.subject.askAgain(answer.ask)
      if (again.digest !== answer.digest) trial.broken(answer, contradiction[0], contradiction[1])
      else trial.skip('what does not fit together stays so: see C2, C3 and C5')
    }
  },
}

function contradictionIn(
  { subject }: Trial,
  answer: Answer,
  asked: number,
): [expected: string, came: string] | undefined {
  const { count, items } = answer.document ?? {}
  if (answer.status !== 200 || count === undefined || items === undefined) return undefined
  const page = positionOf(answer, asked, subject)
  const last = lastByCount(count)
  const expected = page < last ? PAGE_SIZE : page === last ? count - PAGE_SIZE * (last - 1) : 0
  if (items.count !== expected)
    return [`${expected} items on page ${page} beside item_count ${count}`, `${items.count} items`]
  const linked = answer.document === undefined ? undefined : linkedPage(answer.document, 'last', subject.linkUrl)
  return linked === undefined || linked === last
    ? undefined
    : [`last: page ${last} beside item_count ${count}`, `last: page ${linked}`]
}
