/** C1, C8, D5, D6, D9 and D10: the envelope, with pages and without, and the items in it. */

import { UNPAGINATED_LIMIT } from '../../contract/page.ts'
import { type HttpResponse, statusLine } from '../http/response.ts'
import type { Layout } from '../layout.ts'
import { isPaginated, saysTheSame } from '../page/document.ts'
import { shown } from '../page/items.ts'
import type { DifferenceOf, Rule } from '../rule.ts'

export const C1: Rule = {
  id: 'C1',
  title: 'Every page returns 200 with an envelope of item_count, _links and _embedded, the same with and without gzip.',
  why: 'With one shape for every page, a client has to be written only once. Compression must not change the content.',
  affects: 'every client: it finds no count, no links or no items where the contract puts them.',
  right: `GET /events → 200
{"item_count": 1234, "_links": {"first": {…}, "next": {…}, "last": {…}}, "_embedded": {"events": [{…}, …]}}`,
  wrong: `GET /events → 200
[{…}, {…}, …]`,
  scope: 'answer',
  inspect(check, response) {
    for (const [expected, got] of flawsOf(response, check.layout)) check.broken(response, expected, got)
  },
  async probe(check) {
    const { collection, layout } = check
    const last = layout.last ?? 1
    const pages = [...new Set([2, last])].map((page) => collection.pageRequest(page))
    for (const request of last === 1 ? [layout.bare.request] : pages) {
      const packed = { ...request, headers: { 'Accept-Encoding': 'gzip' } }
      const [plain, gzip] = await Promise.all([collection.send(request), collection.send(packed)])
      if (plain.status === 200 && plain.document !== undefined) await check.compare(plain, gzip, gzipDifference)
    }
  },
}

const ENVELOPE = 'an object with item_count, _links and _embedded'

/** Pairs of what was expected and what the response has instead. */
function flawsOf(response: HttpResponse, { kind }: Layout): [expected: string, got: string][] {
  const { status, document, beginning } = response
  if (status !== 200) return [['200 OK', statusLine(response)]]
  if (document === undefined) return [['a JSON document', `no JSON: ${beginning}`]]
  if (document.kind !== 'an object') return [[ENVELOPE, `${document.kind}: ${document.shown}`]]
  if (kind === 'no envelope') return [[ENVELOPE, document.shown]]
  if (kind === 'unpaginated') return []
  const { itemCount, linksKind, embeddedKind } = document
  const flaws: [string, string][] = []
  // A missing count is C2's matter; a negative one has the right type.
  if (itemCount !== undefined && !Number.isInteger(itemCount))
    flaws.push(['a whole number as item_count', shown(itemCount)])
  if (linksKind !== 'an object') flaws.push(['an object as _links', linksKind])
  if (embeddedKind !== 'an object') flaws.push(['an object as _embedded', embeddedKind])
  return flaws
}

const gzipDifference: DifferenceOf = (plain, gzip) => {
  const { document, byteLength, beginning } = gzip
  if (plain.digest === gzip.digest) return undefined
  if (gzip.status !== 200) return { expected: '200 OK, as without gzip', got: statusLine(gzip) }
  if (plain.document && document && saysTheSame(plain.document, document)) return undefined
  const got =
    document === undefined ? `no JSON: ${beginning}` : `another document, ${byteLength} bytes: ${document.shown}`
  return { expected: `the document that is returned without gzip, ${plain.byteLength} bytes`, got }
}

export const C8: Rule = {
  id: 'C8',
  title: 'A collection is paginated in all its responses or in none.',
  why: 'Pagination applies only to collections that support it. A client tells the two apart by item_count, once.',
  affects: 'a client that takes one page for the whole collection.',
  right: 'GET /venues?page=2 → all venues, without item_count and page links, as GET /venues',
  wrong: 'GET /venues → all venues; GET /venues?page=2 → item_count, next and 500 of them',
  scope: 'envelope',
  see(check, { response, document }) {
    if (check.layout.kind === 'paginated' && !isPaginated(document))
      check.broken(response, 'item_count and page links, as on the other pages', 'neither')
  },
  async probe(check) {
    if (check.layout.kind !== 'unpaginated') return
    const response = await check.collection.page(2)
    if (response.status === 200 && response.document !== undefined && isPaginated(response.document))
      check.broken(response, 'no item_count and no page links, as without page', response.document.shown)
  },
}

export const D10: Rule = {
  id: 'D10',
  title:
    'An unpaginated collection is returned whole, with its bare URL as self, whatever page says; it has at most 10,000 items.',
  why: 'An unpaginated collection promises to stay small, and page means nothing there.',
  affects: 'a client that reads it in one request: it gets a part, an error or far too much.',
  right:
    'GET /venues?page=abc → {"_links": {"self": {"href": "https://api.example.com/venues"}}, "_embedded": {"venues": […]}}',
  wrong: 'GET /venues?page=abc → 400',
  scope: 'unpaginated',
  async probe(check) {
    const { collection, layout } = check
    const { bare } = layout
    const items = bare.document?.items
    const self = collection.link(bare.document, 'self')
    const expected = `self leads to ${collection.linkUrl}`
    if (self === undefined) check.broken(bare, expected, 'no self')
    else if (self.href === undefined) check.broken(bare, expected, `it ${self.flaw}`)
    else if (self.flaw !== undefined || self.page !== undefined)
      check.broken(bare, expected, `it leads to ${self.href}`)
    if (items === undefined) check.broken(bare, 'an array of items in _embedded', 'none')
    else if (items.count > UNPAGINATED_LIMIT)
      check.broken(bare, `at most ${UNPAGINATED_LIMIT} items`, `${items.count} items`)
    for (const query of ['page=2', 'page=abc'])
      await check.compareBytes(bare, await collection.query(query), 'the bare URL')
  },
}

export const D5: Rule = {
  id: 'D5',
  title: 'An empty collection has one page, with an empty array of items.',
  why: 'One shape for every size: a client needs no special case for an empty collection.',
  affects: 'a client that loops over the items without checking first whether there are any.',
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
  title: '_embedded has exactly one array, under the name of the collection.',
  why: 'A client finds the items of any collection without configuration.',
  affects: 'a client that reads any collection: it has to guess which array has the items.',
  right: 'GET /events → "_embedded": {"events": […]}',
  wrong: 'GET /events → "_embedded": {"items": […], "warnings": []}',
  scope: 'envelope',
  see(check, { response, document: { arrays, embedded, embeddedKind, count, links } }) {
    // A missing _embedded is C1's matter, and an empty one in an empty collection D5's.
    if (embeddedKind !== 'an object' || (count === 0 && arrays.length === 0)) return
    // A snapshot, and changes, have their items under the name of the live collection (D22).
    const name = links.has('latest-version') ? check.collection.name.replace(/@.*/, '') : check.collection.name
    const got = arrays.length === 0 ? `no array among ${shown(embedded)}` : shown(arrays)
    if (arrays.length !== 1 || arrays[0] !== name) check.broken(response, `one array in _embedded, "${name}"`, got)
  },
}

export const D9: Rule = {
  id: 'D9',
  title: 'Every item is a JSON object.',
  why: 'An object can gain a field later; a number or a string cannot. Whether items come back byte for byte cannot be seen from outside.',
  affects: 'a client that reads a field of each item.',
  right: '"_embedded": {"events": [{"id": 1}, {"id": 2}]}',
  wrong: '"_embedded": {"events": [1, 2, null]}',
  scope: 'envelope',
  see(check, { response, document }) {
    const nonObject = document.items?.nonObject
    if (nonObject !== undefined) check.broken(response, 'objects', `item ${nonObject.index + 1} is ${nonObject.kind}`)
  },
}
