/** D5, D6 and D9: an empty collection, where the items are, and what an item is. */

import { shown } from '../page/items.ts'
import type { Rule } from '../rule.ts'

export const D5: Rule = {
  id: 'D5',
  title: 'An empty collection has one page, with an empty array of items.',
  why: 'One shape for every size: a client needs no special case for an empty collection.',
  hurts: 'a client that goes through the items without asking first whether there are any.',
  right: 'GET /drafts → {"item_count": 0, "_links": {"first": {…}, "last": {…?page=1}}, "_embedded": {"drafts": []}}',
  wrong: 'GET /drafts → {"item_count": 0, "_links": {…}, "_embedded": {}}',
  scope: 'paginated',
  async probe(check) {
    const { itemCount, bare } = check.layout
    if (itemCount !== 0) return check.skip('the collection is not empty')
    const { items, embeddedKind, embedded } = bare.document ?? {}
    const where =
      embeddedKind === 'an object'
        ? `_embedded has ${embedded?.length} fields, and not one array`
        : `_embedded is ${embeddedKind}`
    if (items === undefined) check.broken(bare, 'an empty array in _embedded', where)
    else if (items.count > 0) check.broken(bare, 'no items', `${items.count} items beside item_count 0`)
  },
}

export const D6: Rule = {
  id: 'D6',
  title: '_embedded holds exactly one array, under the name of the collection.',
  why: 'So a client finds the items of any collection without being told where they are.',
  hurts: 'a client for all collections: it has to guess which array holds the items.',
  right: 'GET /events → "_embedded": {"events": […]}',
  wrong: 'GET /events → "_embedded": {"items": […], "warnings": []}',
  scope: 'envelope',
  see(check, { response, document: { arrays, embedded, embeddedKind, count } }) {
    // A missing _embedded is C1's matter, and an empty one in an empty collection D5's.
    if (embeddedKind !== 'an object' || (count === 0 && arrays.length === 0)) return
    const { name } = check.collection
    const came = arrays.length === 0 ? `no array among ${shown(embedded)}` : shown(arrays)
    if (arrays.length !== 1 || arrays[0] !== name) check.broken(response, `one array in _embedded, "${name}"`, came)
  },
}

export const D9: Rule = {
  id: 'D9',
  title: 'Every item is a JSON object.',
  why: 'An object can gain a field later; a number or a string cannot. Whether items come back byte for byte cannot be seen from outside.',
  hurts: 'a client that reads a field of each item.',
  right: '"_embedded": {"events": [{"id": 1}, {"id": 2}]}',
  wrong: '"_embedded": {"events": [1, 2, null]}',
  scope: 'envelope',
  see(check, { response, document }) {
    const nonObject = document.items?.nonObject
    if (nonObject !== undefined) check.broken(response, 'objects', `item ${nonObject.index + 1} is ${nonObject.kind}`)
  },
}
