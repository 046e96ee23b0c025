/** Mutants with a wrong envelope, a wrong count, or wrong items. */

import type { Links } from '../correct-server.ts'
import { grow, type Mutant, mutant, without } from './mutant.ts'

const ENVELOPE: readonly Mutant[] = [
  mutant('bare array', 'The items come without an envelope.', ['C1'], (right) => ({
    serialize: (document) => {
      const { _embedded: embedded } = document as { _embedded?: Links }
      return JSON.stringify(embedded?.[right.name] ?? document)
    },
  })),
  mutant('status 206', 'Pages answer 206 Partial Content.', ['C1'], (right) => ({
    collection: (asked) => {
      const answered = right.collection(asked)
      return answered.status === 200 ? { ...answered, status: 206 } : answered
    },
  })),
  mutant('redirect of the bare URL', 'The bare URL redirects to page=1.', ['C1'], (right) => ({
    collection: (asked) => {
      if (asked.query !== '') return right.collection(asked)
      return { status: 302, headers: { Location: right.href(1, asked) }, body: Buffer.alloc(0) }
    },
  })),
  mutant('broken JSON', 'There is a comma too many behind the last item.', ['C1'], (right) => ({
    serialize: (document) => right.serialize(document).replace(/]}}$/, ',]}}'),
  })),
  mutant('page 2 stumbles', 'Page 2 answers 500.', ['C1'], (right) => ({
    itemsOn: (page, asked) => {
      if (page === 2) throw new Error('out of memory')
      return right.itemsOn(page, asked)
    },
  })),
  mutant(
    'deep pages refused',
    'Pages beyond 10,000 items are refused with 400.',
    { rules: ['C1'], items: 25_000 },
    (right) => ({
      itemsOn: (page, asked) => {
        if (page * 500 > 10_000) throw right.invalidPage(String(page))
        return right.itemsOn(page, asked)
      },
    }),
  ),
  mutant('no _links', 'The envelope has a count and items, and no links.', ['C1'], (right) => ({
    envelope: (page, asked) => without(right.envelope(page, asked), '_links'),
  })),
  mutant('_links as an array', '_links is an array of links with a field rel.', ['C1'], (right) => ({
    envelope: (page, asked) => {
      const links = Object.entries(right.links(page, asked)).map(([rel, link]) => ({ rel, ...(link as Links) }))
      return { ...right.envelope(page, asked), _links: links }
    },
  })),
  mutant('_embedded as an array', '_embedded is the array of items itself.', ['C1'], () => ({
    embedded: (items) => items,
  })),
  mutant(
    'no _embedded when empty',
    'An empty collection has no _embedded.',
    { rules: ['D5', 'C1'], items: 0 },
    (right) => ({
      envelope: (page, asked) => without(right.envelope(page, asked), '_embedded'),
    }),
  ),
  mutant(
    'empty _embedded when empty',
    '_embedded of an empty collection is {}, without an array.',
    { rules: ['D5'], items: 0 },
    () => ({
      embedded: () => ({}),
    }),
  ),
  mutant(
    'null items when empty',
    'An empty collection has null where the array belongs.',
    { rules: ['D5'], items: 0 },
    (right) => ({
      embedded: () => ({ [right.name]: null }),
    }),
  ),
  mutant(
    'other name when empty',
    'The array of an empty collection is called items.',
    { rules: ['D6'], items: 0 },
    () => ({
      embedded: (items) => ({ items }),
    }),
  ),
  mutant('204 when empty', 'An empty collection answers 204 No Content.', { rules: ['C1'], items: 0 }, (right) => ({
    collection: (asked) => ({ ...right.collection(asked), status: 204, body: Buffer.alloc(0) }),
  })),
  mutant('items under "items"', 'The array is called items, whatever the name of the collection.', ['D6'], () => ({
    embedded: (items) => ({ items }),
  })),
  mutant('two arrays', 'There is a second array in _embedded.', ['D6'], (right) => ({
    embedded: (items) => ({ [right.name]: items, warnings: [] }),
  })),
  mutant('items that are numbers', 'Items are numbers instead of objects.', ['D9'], (right) => ({
    embedded: (items) => right.embedded(items.map((item) => (item as { id: number }).id)),
  })),
  mutant('null among the items', 'A removed item leaves null in its place.', ['D9'], (right) => ({
    itemsOn: (page, asked) =>
      right.itemsOn(page, asked).map((item, index) => (page === 2 && index === 17 ? null : item)),
  })),
  mutant('gzip of another document', 'The packed answer was cached with another count.', ['C1'], (right) => ({
    gzip: (plain, asked) =>
      right.gzip(Buffer.from(plain.toString().replace('"item_count":1001', '"item_count":1000')), asked),
  })),
  mutant('gzip of page 1', 'Every packed answer is that of the first page.', ['C1'], (right) => ({
    gzip: (_plain, asked) => right.gzip(Buffer.from(right.serialize(right.envelope(1, asked))), asked),
  })),
  mutant('gzip cut off', 'The packed answer ends too early.', ['C1'], (right) => ({
    gzip: (plain, asked) => right.gzip(plain, asked).subarray(0, -10),
  })),
  mutant('gzip that does not say so', 'The packed answer has no Content-Encoding.', ['C1'], (right) => ({
    headers: (plain, encoding, asked) => without(right.headers(plain, encoding, asked), 'Content-Encoding'),
  })),
]

const COUNT: readonly Mutant[] = [
  mutant('count of the page', 'item_count is the number of items on the page.', ['C2'], (right) => ({
    itemCount: (page, asked) => right.itemsOn(page, asked).length,
  })),
  mutant(
    'count of the page, all pages full',
    'item_count is the number of items on the page, and every page has 500.',
    { rules: ['C2'], items: 1000 },
    (right) => ({
      itemCount: (page, asked) => right.itemsOn(page, asked).length,
    }),
  ),
  mutant('count one too high', 'item_count is one more than there are items.', ['C2'], (right) => ({
    itemCount: () => right.items.length + 1,
  })),
  mutant(
    'count one too high, at a border',
    'item_count is 1001 for two full pages.',
    { rules: ['C2'], items: 1000 },
    (right) => ({
      itemCount: () => right.items.length + 1,
    }),
  ),
  mutant(
    'count and pages one too high',
    'A deleted item is still counted: there is a third page without items.',
    { rules: ['C2'], items: 1000 },
    (right) => ({
      itemCount: () => right.items.length + 1,
      lastPage: () => Math.ceil((right.items.length + 1) / 500),
    }),
  ),
  mutant('count one too low', 'item_count is 1000 for 1001 items.', ['C2'], (right) => ({
    itemCount: () => right.items.length - 1,
  })),
  mutant(
    'one page too few',
    'The number of pages is floor(n / 500): the last item of 1001 cannot be read.',
    ['C2'],
    (right) => ({
      lastPage: () => Math.floor(right.items.length / 500),
    }),
  ),
  mutant(
    'count capped at 10,000',
    'item_count stops at 10,000 for 25,000 items.',
    { rules: ['C2'], items: 25_000 },
    (right) => ({
      itemCount: () => Math.min(right.items.length, 10_000),
    }),
  ),
  mutant(
    'count rounded',
    'item_count is an estimate, in whole thousands.',
    { rules: ['C2'], items: 2600 },
    (right) => ({
      itemCount: () => Math.round(right.items.length / 1000) * 1000,
    }),
  ),
  mutant('count 0 while there are items', 'item_count is always 0.', ['C2', 'D5'], () => ({
    itemCount: () => 0,
  })),
  mutant('count of -1', 'item_count is -1, for "unknown".', ['C2'], () => ({
    itemCount: () => -1,
  })),
  mutant('count differs between pages', 'item_count is one more on every further page.', ['C2'], (right) => ({
    itemCount: (page) => right.items.length + page - 1,
  })),
  mutant('count as text', 'item_count is a text.', ['C1'], (right) => ({
    itemCount: () => String(right.items.length),
  })),
  mutant('null count', 'item_count is null.', ['C1'], () => ({
    itemCount: () => null,
  })),
  mutant('no count on page 2', 'Page 2 has no item_count.', ['C2'], (right) => ({
    envelope: (page, asked) => {
      const envelope = right.envelope(page, asked)
      return page === 2 ? without(envelope, 'item_count') : envelope
    },
  })),
  mutant('no count at all', 'There are page links, but no item_count.', ['C2'], (right) => ({
    envelope: (page, asked) => without(right.envelope(page, asked), 'item_count'),
  })),
  mutant(
    'count read before the items',
    'Items arrive between reading the count and reading the items.',
    ['D15', 'C2'],
    (right) => ({
      itemsOn: (page, asked) => {
        grow(right)
        return right.itemsOn(page, asked)
      },
    }),
  ),
]

const ITEMS: readonly Mutant[] = [
  mutant(
    'repeated at a border',
    'Page 2 begins with the last item of page 1, and the last item is missing.',
    ['C2'],
    (right) => ({
      itemsOn: (page) =>
        right.items.toSpliced(500, 0, right.items[499]).slice((page - 1) * 500, Math.min(page * 500, 1001)),
    }),
  ),
  mutant(
    'repeated at a border far inside',
    'Page 27 of 50 begins with the last item of page 26, and the last item is missing.',
    { rules: ['C2'], items: 25_000, isWalk: true },
    (right) => ({
      itemsOn: (page) => {
        const start = (page - 1) * 500 - (page > 26 ? 1 : 0)
        return right.items.slice(start, start + 500)
      },
    }),
  ),
  mutant(
    'repeated by a field with another name',
    'Page 27 of 50 begins with the last item of page 26; items are known by their number.',
    {
      rules: ['C2'],
      options: { items: Array.from({ length: 25_000 }, (_, index) => ({ kind: 'note', number: `N-${index}` })) },
      isWalk: true,
    },
    (right) => ({
      itemsOn: (page) => {
        const start = (page - 1) * 500 - (page > 26 ? 1 : 0)
        return right.items.slice(start, start + 500)
      },
    }),
  ),
  mutant(
    'repeated without an identifier',
    'Page 2 of 3 begins with the last item of page 1; no field is unique, so it may be another, equal item.',
    {
      rules: ['C2'],
      options: {
        items: Array.from({ length: 1001 }, (_, index) => ({ row: index % 40, column: Math.floor(index / 40) })),
      },
      isWalk: true,
      isDoubt: true,
    },
    (right) => ({
      itemsOn: (page) =>
        right.items.toSpliced(500, 0, right.items[499]).slice((page - 1) * 500, Math.min(page * 500, 1001)),
    }),
  ),
  mutant('item left out at a border', 'Page 2 begins one item too late.', { rules: ['C2'], items: 1010 }, (right) => ({
    itemsOn: (page) => right.items.toSpliced(500, 1).slice((page - 1) * 500, page * 500),
  })),
  mutant('pages of 100', 'A page holds 100 items.', ['C3'], () => ({
    pageSize: () => 100,
  })),
  mutant('pages of 501', 'A page holds 501 items.', ['C3'], () => ({
    pageSize: () => 501,
  })),
  mutant('pages of 1000', 'A page holds 1000 items.', ['C3'], () => ({
    pageSize: () => 1000,
  })),
  mutant('all on one page', 'The only page holds all 1001 items.', ['C3'], () => ({
    pageSize: () => 10_000,
  })),
  mutant('pages overlap by one', 'Every page also holds the first item of the next one.', ['C3', 'C2'], (right) => ({
    itemsOn: (page) => right.items.slice((page - 1) * 500, page * 500 + 1),
  })),
  mutant(
    'filtered after paging',
    'Hidden items are taken out of a page after it was cut: page 2 has 499 items.',
    ['C3', 'C2'],
    (right) => ({
      itemsOn: (page, asked) => right.itemsOn(page, asked).filter((item) => (item as { id: number }).id !== 700),
    }),
  ),
  mutant(
    'short page far inside',
    'Page 30 of 50 lacks an item.',
    { rules: ['C3', 'C2'], items: 25_000, isWalk: true },
    (right) => ({
      itemsOn: (page, asked) => right.itemsOn(page, asked).slice(page === 30 ? 1 : 0),
    }),
  ),
  mutant('shuffled page', 'The items of a page come in another order each time.', ['D8'], (right) => {
    let turn = 0
    return {
      itemsOn: (page, asked) => {
        const items = right.itemsOn(page, asked)
        const cut = turn++ % Math.max(1, items.length)
        return [...items.slice(cut), ...items.slice(0, cut)]
      },
    }
  }),
  mutant('shuffled collection', 'The whole collection is in another order each time.', ['D8', 'C7'], (right) => {
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
  mutant('overlapping pages', 'Every page begins 50 items too early.', { rules: ['C2'], items: 1234 }, (right) => ({
    itemsOn: (page, asked) => {
      const { length } = right.itemsOn(page, asked)
      const from = Math.max(0, (page - 1) * 450)
      return right.items.slice(from, from + length)
    },
  })),
  mutant(
    'a page again',
    'Page 3 holds the items of page 1.',
    { rules: ['C6'], items: 2345, isWalk: true },
    (right) => ({
      itemsOn: (page, asked) => right.itemsOn(page === 3 ? 1 : page, asked),
    }),
  ),
  mutant('size beside a page', 'The parameter per_page counts, but only together with page.', ['C3'], (right) => ({
    itemsOn: (page, asked) => {
      const query = new URLSearchParams(asked.query)
      const size = query.has('page') ? Number(query.get('per_page') ?? 500) : 500
      return right.itemsOn(page, asked).slice(0, size)
    },
  })),
  mutant(
    'a number in every answer',
    'Every answer carries a number of its own.',
    ['C7', 'C1', 'D1', 'D2', 'D11', 'D12', 'D13'],
    (right) => {
      let number = 0
      return {
        envelope: (page, asked) => ({ ...right.envelope(page, asked), request: ++number + 1_000_000 }),
      }
    },
  ),
]
