/** C8: with pages or without, but not both. */

import { isPaginated } from '../document.ts'
import type { Rule } from '../rule.ts'

export const C8: Rule = {
  id: 'C8',
  title: 'A collection is paginated in all its answers or in none.',
  why: 'Pagination applies only to collections that support it. A client tells the two apart by item_count, once.',
  hurts: 'a client that took the collection for a whole one and goes home with a part of it.',
  right: 'GET /venues?page=2 → all venues, without item_count and page links, as GET /venues',
  wrong: 'GET /venues → all venues; GET /venues?page=2 → item_count, next and 500 of them',
  scope: 'envelope',
  watch: (trial) => ({
    see: (answer) => {
      const { status, document } = answer
      if (trial.layout.kind !== 'paginated' || status !== 200 || document?.kind !== 'an object') return
      if (!isPaginated(document)) trial.broken(answer, 'item_count and page links, as on the other pages', 'neither')
    },
  }),
  async probe(trial) {
    if (trial.layout.kind !== 'unpaginated') return
    const answer = await trial.subject.page(2)
    if (answer.status === 200 && answer.document !== undefined && isPaginated(answer.document))
      trial.broken(answer, 'no item_count and no page links, as without page', `${answer.document.shown}`)
  },
}
