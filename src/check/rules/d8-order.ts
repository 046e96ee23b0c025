/** D8: one fixed order. */

import type { Answer } from '../answer.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D8: Rule = {
  id: 'D8',
  title: 'The order is fixed: a page that is read again holds the same items in the same order.',
  why: 'Without a total order, items move between pages from one request to the next, and a client misses some and gets others twice.',
  hurts: 'whoever reads more than one page: what stood on page 2 may be on page 1 by now.',
  right: 'GET /events?page=2, twice → the same items in the same order',
  wrong: 'GET /events?page=2, twice → sorted by a date that many items share, each time in another order',
  scope: 'all',
  async probe(trial) {
    const { subject, layout } = trial
    await readAgain(trial, layout.bare)
    if (layout.last !== undefined && layout.last > 1) await readAgain(trial, await subject.page(layout.last))
  },
}

async function readAgain(trial: Trial, before: Answer): Promise<void> {
  const after = await trial.subject.askAgain(before.ask)
  const [those, these] = [contentsOf(before), contentsOf(after)]
  if (those === undefined || these === undefined || those.join() === these.join()) return
  const isReordered = those.toSorted().join() === these.toSorted().join()
  trial.differs(
    after,
    'the same items in the same order, when read again',
    isReordered ? 'the same items in another order' : 'other items',
  )
}

function contentsOf({ status, document }: Answer): string[] | undefined {
  return status === 200 ? document?.items?.contents.map(({ high, low }) => `${high}.${low}`) : undefined
}
