/** D5: an empty collection. */

import type { Rule } from '../rule.ts'

export const D5: Rule = {
  id: 'D5',
  title: 'An empty collection has one page, with an empty array of items.',
  why: 'One shape for every size: a client needs no case of its own for nothing.',
  hurts: 'a client that goes through the items without asking first whether there are any.',
  right: 'GET /drafts → {"item_count": 0, "_links": {"first": {…}, "last": {…?page=1}}, "_embedded": {"drafts": []}}',
  wrong: 'GET /drafts → {"item_count": 0, "_links": {…}, "_embedded": {}}',
  scope: 'paginated',
  async probe(trial) {
    const { itemCount, bare } = trial.layout
    if (itemCount !== 0) return trial.skip('the collection is not empty')
    const { items, embeddedKind, embedded } = bare.document ?? {}
    const where =
      embeddedKind === 'an object'
        ? `_embedded has ${embedded?.length} fields, and not one array`
        : `_embedded is ${embeddedKind}`
    if (items === undefined) trial.broken(bare, 'an empty array in _embedded', where)
    else if (items.count > 0) trial.broken(bare, 'no items', `${items.count} items beside item_count 0`)
  },
}
