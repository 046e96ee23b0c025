/** Mutants with a wrong envelope, a wrong count, or wrong items. */

import type { CorrectServer, Links } from '../correct-server.ts'
import { emptyMutant, grow, longMutant, type Mutant, mutant, mutantOf, redirect, without } from './mutant.ts'

/** An item that the correct server has made. */
const idOf = (item: unknown) => (item as { id: number }).id

const ENVELOPE: readonly Mutant[] = [
  mutant('The items come without an envelope.', 'C1', {
    serialize: (text, document, { name }) => {
      const { _embedded: embedded } = document as { _embedded?: Links }
      return embedded?.[name] === undefined ? text : JSON.stringify(embedded[name])
    },
  }),
  mutant('Pages answer 206 Partial Content.', 'C1', {
    collection: (answered) => (answered.status === 200 ? { ...answered, status: 206 } : answered),
  }),
  mutant('The bare URL redirects to page=1.', 'C1', {
    collection: (answered, asked, right) => (asked.query === '' ? redirect(302, right.href(1, asked)) : answered),
  }),
  mutant('There is a comma too many behind the last item.', 'C1', {
    serialize: (text) => text.replace(/]}}$/, ',]}}'),
  }),
  mutant('Page 2 answers 500.', 'C1', {
    itemsOn: (items, page) => {
      if (page === 2) throw new Error('out of memory')
      return items
    },
  }),
  mutantOf({ items: 25_000 })('Pages beyond 10,000 items are refused with 400.', 'C1', {
    itemsOn: (items, page, _asked, right) => {
      if (page * 500 > 10_000) throw right.invalidPage(String(page))
      return items
    },
  }),
  mutant('The envelope has a count and items, and no links.', 'C1', {
    envelope: (envelope) => without(envelope, '_links'),
  }),
  mutant('_links is an array of links with a field rel.', 'C1', {
    envelope: (envelope) => {
      const links = Object.entries(envelope['_links'] as Links).map(([rel, link]) => ({ rel, ...(link as Links) }))
      return { ...envelope, _links: links }
    },
  }),
  mutant('_embedded is the array of items itself.', 'C1', { embedded: (_embedded, items) => items }),
  emptyMutant('An empty collection has no _embedded.', ['D5', 'C1'], {
    envelope: (envelope) => without(envelope, '_embedded'),
  }),
  emptyMutant('_embedded of an empty collection is {}, without an array.', 'D5', { embedded: () => ({}) }),
  emptyMutant('An empty collection has null where the array belongs.', 'D5', { embedded: () => ({ events: null }) }),
  emptyMutant('The array of an empty collection is called items.', 'D6', {
    embedded: (_embedded, items) => ({ items }),
  }),
  emptyMutant('An empty collection answers 204 No Content.', 'C1', {
    collection: (answered) => ({ ...answered, status: 204, body: Buffer.alloc(0) }),
  }),
  mutant('The array is called items, whatever the name of the collection.', 'D6', {
    embedded: (_embedded, items) => ({ items }),
  }),
  mutant('There is a second array in _embedded.', 'D6', {
    embedded: (_embedded, items) => ({ events: items, warnings: [] }),
  }),
  mutant('Items are numbers instead of objects.', 'D9', {
    embedded: (_embedded, items) => ({ events: items.map(idOf) }),
  }),
  mutant('A removed item leaves null in its place.', 'D9', {
    itemsOn: (items, page) => items.map((item, index) => (page === 2 && index === 17 ? null : item)),
  }),
  mutant('The packed answer was cached with another count.', 'C1', (right) => ({
    gzip: (plain, asked) =>
      right.gzip(Buffer.from(`${plain}`.replace('"item_count":1001', '"item_count":1000')), asked),
  })),
  mutant('Every packed answer is that of the first page.', 'C1', (right) => ({
    gzip: (_plain, asked) => right.gzip(Buffer.from(right.serialize(right.envelope(1, asked))), asked),
  })),
  mutant('The packed answer ends too early.', 'C1', { gzip: (packed) => packed.subarray(0, -10) }),
  mutant('The packed answer has no Content-Encoding.', 'C1', {
    headers: (headers) => without(headers, 'Content-Encoding'),
  }),
]

const countOfPage = (right: CorrectServer): Partial<CorrectServer> => ({
  itemCount: (page, asked) => right.itemsOn(page, asked).length,
})
const ofTwoFullPages = mutantOf({ items: 1000 })

const COUNT: readonly Mutant[] = [
  mutant('item_count is the number of items on the page.', 'C2', countOfPage),
  ofTwoFullPages('item_count is the number of items on the page, and every page has 500.', 'C2', countOfPage),
  mutant('item_count is one more than there are items.', 'C2', { itemCount: (count) => Number(count) + 1 }),
  ofTwoFullPages('item_count is 1001 for two full pages.', 'C2', { itemCount: () => 1001 }),
  ofTwoFullPages('A deleted item is still counted: there is a third page without items.', 'C2', {
    itemCount: () => 1001,
    lastPage: () => 3,
  }),
  mutant('item_count is 1000 for 1001 items.', 'C2', { itemCount: () => 1000 }),
  mutant('The number of pages is floor(n / 500): the last item of 1001 cannot be read.', 'C2', { lastPage: () => 2 }),
  mutantOf({ items: 25_000 })('item_count stops at 10,000 for 25,000 items.', 'C2', { itemCount: () => 10_000 }),
  mutantOf({ items: 2600 })('item_count is an estimate, in whole thousands.', 'C2', { itemCount: () => 3000 }),
  mutant('item_count is always 0.', ['C2', 'D5'], { itemCount: () => 0 }),
  mutant('item_count is -1, for "unknown".', 'C2', { itemCount: () => -1 }),
  mutant('item_count is one more on every further page.', 'C2', {
    itemCount: (count, page) => Number(count) + page - 1,
  }),
  mutant('item_count is a text.', 'C1', { itemCount: (count) => String(count) }),
  mutant('item_count is null.', 'C1', { itemCount: () => null }),
  mutant('Page 2 has no item_count.', 'C2', {
    envelope: (envelope, page) => (page === 2 ? without(envelope, 'item_count') : envelope),
  }),
  mutant('There are page links, but no item_count.', 'C2', { envelope: (envelope) => without(envelope, 'item_count') }),
  mutant('Items arrive between reading the count and reading the items.', ['D15', 'C2'], (right) => ({
    itemsOn: (page, asked) => {
      grow(right)
      return right.itemsOn(page, asked)
    },
  })),
]

/** Page 2 begins with the last item of page 1, and the last item is missing. */
const repeatAtBorder = (right: CorrectServer): Partial<CorrectServer> => ({
  itemsOn: (page) =>
    right.items.toSpliced(500, 0, right.items[499]).slice((page - 1) * 500, Math.min(page * 500, 1001)),
})

const repeatFarInside = (right: CorrectServer): Partial<CorrectServer> => ({
  itemsOn: (page) => {
    const start = (page - 1) * 500 - (page > 26 ? 1 : 0)
    return right.items.slice(start, start + 500)
  },
})

const itemsOf = (length: number, itemOf: (index: number) => unknown) =>
  Array.from({ length }, (_, index) => itemOf(index))

const ITEMS: readonly Mutant[] = [
  mutant('Page 2 begins with the last item of page 1, and the last item is missing.', 'C2', repeatAtBorder),
  longMutant(
    'Page 27 of 50 begins with the last item of page 26, and the last item is missing.',
    'C2',
    repeatFarInside,
  ),
  mutantOf({ items: itemsOf(25_000, (index) => ({ kind: 'note', number: `N-${index}` })) }, { isWalk: true })(
    'Page 27 of 50 begins with the last item of page 26; items are known by their number.',
    'C2',
    repeatFarInside,
  ),
  mutantOf(
    { items: itemsOf(1001, (index) => ({ row: index % 40, column: Math.floor(index / 40) })) },
    { isWalk: true, isDoubt: true },
  )(
    'Page 2 of 3 begins with the last item of page 1; no field is unique, so it may be another, equal item.',
    'C2',
    repeatAtBorder,
  ),
  mutantOf({ items: 1010 })('Page 2 begins one item too late.', 'C2', {
    itemsOn: (_items, page, _asked, { items }) => items.toSpliced(500, 1).slice((page - 1) * 500, page * 500),
  }),
  mutant('A page holds 100 items.', 'C3', { pageSize: () => 100 }),
  mutant('A page holds 501 items.', 'C3', { pageSize: () => 501 }),
  mutant('A page holds 1000 items.', 'C3', { pageSize: () => 1000 }),
  mutant('The only page holds all 1001 items.', 'C3', { pageSize: () => 10_000 }),
  mutant('Every page also holds the first item of the next one.', ['C3', 'C2'], {
    itemsOn: (_items, page, _asked, { items }) => items.slice((page - 1) * 500, page * 500 + 1),
  }),
  mutant('Hidden items are taken out of a page after it was cut: page 2 has 499 items.', ['C3', 'C2'], {
    itemsOn: (items) => items.filter((item) => idOf(item) !== 700),
  }),
  longMutant('Page 30 of 50 lacks an item.', ['C3', 'C2'], {
    itemsOn: (items, page) => items.slice(page === 30 ? 1 : 0),
  }),
  mutant('The items of a page come in another order each time.', 'D8', (right) => {
    let turn = 0
    return {
      itemsOn: (page, asked) => {
        const items = right.itemsOn(page, asked)
        const cut = turn++ % Math.max(1, items.length)
        return [...items.slice(cut), ...items.slice(0, cut)]
      },
    }
  }),
  mutant('The whole collection is in another order each time.', ['D8', 'C7'], (right) => {
    let turn = 0
    return {
      itemsOn: (page) => {
        turn++
        const placeOf = (index: number) => ((index + 1) * (7919 + turn)) % 10007
        const places = right.items.map((item, index) => ({ item, place: placeOf(index) }))
        const shuffled = places.sort((a, b) => a.place - b.place).map(({ item }) => item)
        return shuffled.slice((page - 1) * 500, page * 500)
      },
    }
  }),
]

export const CONTENT_MUTANTS: readonly Mutant[] = [
  ...ENVELOPE,
  ...COUNT,
  ...ITEMS,
  mutantOf({ items: 1234 })('Every page begins 50 items too early.', 'C2', {
    itemsOn: ({ length }, page, _asked, { items }) => items.slice((page - 1) * 450, (page - 1) * 450 + length),
  }),
  mutantOf({ items: 2345 }, { isWalk: true })('Page 3 holds the items of page 1.', 'C6', {
    itemsOn: (items, page, _asked, right) => (page === 3 ? right.items.slice(0, 500) : items),
  }),
  mutant('The parameter per_page counts, but only together with page.', 'C3', {
    itemsOn: (items, _page, asked) => {
      const query = new URLSearchParams(asked.query)
      return items.slice(0, query.has('page') ? Number(query.get('per_page') ?? 500) : 500)
    },
  }),
  mutant('Every answer carries a number of its own.', ['C7', 'C1', 'D1', 'D2', 'D11', 'D12', 'D13'], (right) => {
    let number = 0
    return { envelope: (page, asked) => ({ ...right.envelope(page, asked), request: ++number + 1_000_000 }) }
  }),
]
