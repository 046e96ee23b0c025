/** Mutants with a wrong envelope, a wrong count, or wrong items. */

import { type Asked, CorrectServer, type Links } from '../correct-server.ts'
import { grow, type Mutant, without } from './mutant.ts'

const ENVELOPE: readonly Mutant[] = [
  {
    name: 'bare array',
    defect: 'The items come without an envelope.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override serialize(document: unknown) {
        const { _embedded: embedded } = document as { _embedded?: Links }
        return JSON.stringify(embedded?.[this.name] ?? document)
      }
    },
  },
  {
    name: 'status 206',
    defect: 'Pages answer 206 Partial Content.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        const answered = super.collection(asked)
        return answered.status === 200 ? { ...answered, status: 206 } : answered
      }
    },
  },
  {
    name: 'redirect of the bare URL',
    defect: 'The bare URL redirects to page=1.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        if (asked.query !== '') return super.collection(asked)
        return { status: 302, headers: { Location: this.href(1, asked) }, body: Buffer.alloc(0) }
      }
    },
  },
  {
    name: 'broken JSON',
    defect: 'There is a comma too many behind the last item.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override serialize(document: unknown) {
        return super.serialize(document).replace(/]}}$/, ',]}}')
      }
    },
  },
  {
    name: 'page 2 stumbles',
    defect: 'Page 2 answers 500.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        if (page === 2) throw new Error('out of memory')
        return super.itemsOn(page, asked)
      }
    },
  },
  {
    name: 'deep pages refused',
    defect: 'Pages beyond 10,000 items are refused with 400.',
    caughtBy: 'C1',
    options: { items: 25_000 },
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        if (page * 500 > 10_000) throw this.invalidPage(String(page))
        return super.itemsOn(page, asked)
      }
    },
  },
  {
    name: 'no _links',
    defect: 'The envelope has a count and items, and no links.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        return without(super.envelope(page, asked), '_links')
      }
    },
  },
  {
    name: '_links as an array',
    defect: '_links is an array of links with a field rel.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        const links = Object.entries(this.links(page, asked)).map(([rel, link]) => ({ rel, ...(link as Links) }))
        return { ...super.envelope(page, asked), _links: links }
      }
    },
  },
  {
    name: '_embedded as an array',
    defect: '_embedded is the array of items itself.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override embedded(items: readonly unknown[]) {
        return items
      }
    },
  },
  {
    name: 'no _embedded when empty',
    defect: 'An empty collection has no _embedded.',
    caughtBy: 'D5',
    also: ['C1'],
    options: { items: 0 },
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        return without(super.envelope(page, asked), '_embedded')
      }
    },
  },
  {
    name: 'empty _embedded when empty',
    defect: '_embedded of an empty collection is {}, without an array.',
    caughtBy: 'D5',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override embedded() {
        return {}
      }
    },
  },
  {
    name: 'null items when empty',
    defect: 'An empty collection has null where the array belongs.',
    caughtBy: 'D5',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override embedded() {
        return { [this.name]: null }
      }
    },
  },
  {
    name: 'other name when empty',
    defect: 'The array of an empty collection is called items.',
    caughtBy: 'D6',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override embedded(items: readonly unknown[]) {
        return { items }
      }
    },
  },
  {
    name: '204 when empty',
    defect: 'An empty collection answers 204 No Content.',
    caughtBy: 'C1',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        return { ...super.collection(asked), status: 204, body: Buffer.alloc(0) }
      }
    },
  },
  {
    name: 'items under "items"',
    defect: 'The array is called items, whatever the name of the collection.',
    caughtBy: 'D6',
    Server: class extends CorrectServer {
      override embedded(items: readonly unknown[]) {
        return { items }
      }
    },
  },
  {
    name: 'two arrays',
    defect: 'There is a second array in _embedded.',
    caughtBy: 'D6',
    Server: class extends CorrectServer {
      override embedded(items: readonly unknown[]) {
        return { [this.name]: items, warnings: [] }
      }
    },
  },
  {
    name: 'items that are numbers',
    defect: 'Items are numbers instead of objects.',
    caughtBy: 'D9',
    Server: class extends CorrectServer {
      override embedded(items: readonly unknown[]) {
        return super.embedded(items.map((item) => (item as { id: number }).id))
      }
    },
  },
  {
    name: 'null among the items',
    defect: 'A removed item leaves null in its place.',
    caughtBy: 'D9',
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        return super.itemsOn(page, asked).map((item, index) => (page === 2 && index === 17 ? null : item))
      }
    },
  },
  {
    name: 'gzip of another document',
    defect: 'The packed answer was cached with another count.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override gzip(plain: Buffer, asked: Asked) {
        return super.gzip(Buffer.from(plain.toString().replace('"item_count":1001', '"item_count":1000')), asked)
      }
    },
  },
  {
    name: 'gzip of page 1',
    defect: 'Every packed answer is that of the first page.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override gzip(_plain: Buffer, asked: Asked) {
        return super.gzip(Buffer.from(this.serialize(this.envelope(1, asked))), asked)
      }
    },
  },
  {
    name: 'gzip cut off',
    defect: 'The packed answer ends too early.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override gzip(plain: Buffer, asked: Asked) {
        return super.gzip(plain, asked).subarray(0, -10)
      }
    },
  },
  {
    name: 'gzip that does not say so',
    defect: 'The packed answer has no Content-Encoding.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override headers(...[plain, encoding, asked]: Parameters<CorrectServer['headers']>) {
        return without(super.headers(plain, encoding, asked), 'Content-Encoding') as Record<string, string>
      }
    },
  },
]

const COUNT: readonly Mutant[] = [
  {
    name: 'count of the page',
    defect: 'item_count is the number of items on the page.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemCount(page: number, asked: Asked) {
        return this.itemsOn(page, asked).length
      }
    },
  },
  {
    name: 'count of the page, all pages full',
    defect: 'item_count is the number of items on the page, and every page has 500.',
    caughtBy: 'C2',
    options: { items: 1000 },
    Server: class extends CorrectServer {
      override itemCount(page: number, asked: Asked) {
        return this.itemsOn(page, asked).length
      }
    },
  },
  {
    name: 'count one too high',
    defect: 'item_count is one more than there are items.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemCount() {
        return this.items.length + 1
      }
    },
  },
  {
    name: 'count one too high, at a border',
    defect: 'item_count is 1001 for two full pages.',
    caughtBy: 'C2',
    options: { items: 1000 },
    Server: class extends CorrectServer {
      override itemCount() {
        return this.items.length + 1
      }
    },
  },
  {
    name: 'count and pages one too high',
    defect: 'A deleted item is still counted: there is a third page without items.',
    caughtBy: 'C2',
    options: { items: 1000 },
    Server: class extends CorrectServer {
      override itemCount() {
        return this.items.length + 1
      }

      override lastPage() {
        return Math.ceil((this.items.length + 1) / 500)
      }
    },
  },
  {
    name: 'count one too low',
    defect: 'item_count is 1000 for 1001 items.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemCount() {
        return this.items.length - 1
      }
    },
  },
  {
    name: 'one page too few',
    defect: 'The number of pages is floor(n / 500): the last item of 1001 cannot be read.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override lastPage() {
        return Math.floor(this.items.length / 500)
      }
    },
  },
  {
    name: 'count capped at 10,000',
    defect: 'item_count stops at 10,000 for 25,000 items.',
    caughtBy: 'C2',
    options: { items: 25_000 },
    Server: class extends CorrectServer {
      override itemCount() {
        return Math.min(this.items.length, 10_000)
      }
    },
  },
  {
    name: 'count rounded',
    defect: 'item_count is an estimate, in whole thousands.',
    caughtBy: 'C2',
    options: { items: 2600 },
    Server: class extends CorrectServer {
      override itemCount() {
        return Math.round(this.items.length / 1000) * 1000
      }
    },
  },
  {
    name: 'count 0 while there are items',
    defect: 'item_count is always 0.',
    caughtBy: 'C2',
    also: ['D5'],
    Server: class extends CorrectServer {
      override itemCount() {
        return 0
      }
    },
  },
  {
    name: 'count of -1',
    defect: 'item_count is -1, for "unknown".',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemCount() {
        return -1
      }
    },
  },
  {
    name: 'count differs between pages',
    defect: 'item_count is one more on every further page.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemCount(page: number) {
        return this.items.length + page - 1
      }
    },
  },
  {
    name: 'count as text',
    defect: 'item_count is a text.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override itemCount() {
        return String(this.items.length)
      }
    },
  },
  {
    name: 'null count',
    defect: 'item_count is null.',
    caughtBy: 'C1',
    Server: class extends CorrectServer {
      override itemCount() {
        return null
      }
    },
  },
  {
    name: 'no count on page 2',
    defect: 'Page 2 has no item_count.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        const envelope = super.envelope(page, asked)
        return page === 2 ? without(envelope, 'item_count') : envelope
      }
    },
  },
  {
    name: 'no count at all',
    defect: 'There are page links, but no item_count.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        return without(super.envelope(page, asked), 'item_count')
      }
    },
  },
  {
    name: 'count read before the items',
    defect: 'Items arrive between reading the count and reading the items.',
    caughtBy: 'D15',
    also: ['C2'],
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        grow(this)
        return super.itemsOn(page, asked)
      }
    },
  },
]

const ITEMS: readonly Mutant[] = [
  {
    name: 'repeated at a border',
    defect: 'Page 2 begins with the last item of page 1, and the last item is missing.',
    caughtBy: 'C2',
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        return this.items.toSpliced(500, 0, this.items[499]).slice((page - 1) * 500, Math.min(page * 500, 1001))
      }
    },
  },
  {
    name: 'repeated at a border far inside',
    defect: 'Page 27 of 50 begins with the last item of page 26, and the last item is missing.',
    caughtBy: 'C2',
    options: { items: 25_000 },
    isWalk: true,
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        const start = (page - 1) * 500 - (page > 26 ? 1 : 0)
        return this.items.slice(start, start + 500)
      }
    },
  },
  {
    name: 'repeated by a field with another name',
    defect: 'Page 27 of 50 begins with the last item of page 26; items are known by their number.',
    caughtBy: 'C2',
    options: { items: Array.from({ length: 25_000 }, (_, index) => ({ kind: 'note', number: `N-${index}` })) },
    isWalk: true,
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        const start = (page - 1) * 500 - (page > 26 ? 1 : 0)
        return this.items.slice(start, start + 500)
      }
    },
  },
  {
    name: 'repeated without an identifier',
    defect: 'Page 2 of 3 begins with the last item of page 1; no field is unique, so it may be another, equal item.',
    caughtBy: 'C2',
    isDoubt: true,
    isWalk: true,
    options: {
      items: Array.from({ length: 1001 }, (_, index) => ({ row: index % 40, column: Math.floor(index / 40) })),
    },
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        return this.items.toSpliced(500, 0, this.items[499]).slice((page - 1) * 500, Math.min(page * 500, 1001))
      }
    },
  },
  {
    name: 'item left out at a border',
    defect: 'Page 2 begins one item too late.',
    caughtBy: 'C2',
    options: { items: 1010 },
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        return this.items.toSpliced(500, 1).slice((page - 1) * 500, page * 500)
      }
    },
  },
  {
    name: 'pages of 100',
    defect: 'A page holds 100 items.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize() {
        return 100
      }
    },
  },
  {
    name: 'pages of 501',
    defect: 'A page holds 501 items.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize() {
        return 501
      }
    },
  },
  {
    name: 'pages of 1000',
    defect: 'A page holds 1000 items.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize() {
        return 1000
      }
    },
  },
  {
    name: 'all on one page',
    defect: 'The only page holds all 1001 items.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize() {
        return 10_000
      }
    },
  },
  {
    name: 'pages overlap by one',
    defect: 'Every page also holds the first item of the next one.',
    caughtBy: 'C3',
    also: ['C2'],
    Server: class extends CorrectServer {
      override itemsOn(page: number) {
        return this.items.slice((page - 1) * 500, page * 500 + 1)
      }
    },
  },
  {
    name: 'filtered after paging',
    defect: 'Hidden items are taken out of a page after it was cut: page 2 has 499 items.',
    caughtBy: 'C3',
    also: ['C2'],
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        return super.itemsOn(page, asked).filter((item) => (item as { id: number }).id !== 700)
      }
    },
  },
  {
    name: 'short page far inside',
    defect: 'Page 30 of 50 lacks an item.',
    caughtBy: 'C3',
    also: ['C2'],
    options: { items: 25_000 },
    isWalk: true,
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        return super.itemsOn(page, asked).slice(page === 30 ? 1 : 0)
      }
    },
  },
  {
    name: 'shuffled page',
    defect: 'The items of a page come in another order each time.',
    caughtBy: 'D8',
    Server: class extends CorrectServer {
      #turn = 0

      override itemsOn(page: number, asked: Asked) {
        const items = super.itemsOn(page, asked)
        const cut = this.#turn++ % Math.max(1, items.length)
        return [...items.slice(cut), ...items.slice(0, cut)]
      }
    },
  },
  {
    name: 'shuffled collection',
    defect: 'The whole collection is in another order each time.',
    caughtBy: 'D8',
    also: ['C7'],
    Server: class extends CorrectServer {
      #turn = 0

      override itemsOn(page: number) {
        const turn = ++this.#turn
        const placeOf = (index: number) => ((index + 1) * (7919 + turn)) % 10007
        const places = this.items.map((item, index) => ({ item, place: placeOf(index) }))
        const shuffled = places.sort((a, b) => a.place - b.place).map(({ item }) => item)
        return shuffled.slice((page - 1) * 500, page * 500)
      }
    },
  },
]

export const CONTENT_MUTANTS: readonly Mutant[] = [
  ...ENVELOPE,
  ...COUNT,
  ...ITEMS,
  {
    name: 'overlapping pages',
    defect: 'Every page begins 50 items too early.',
    caughtBy: 'C2',
    options: { items: 1234 },
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        const { length } = super.itemsOn(page, asked)
        const from = Math.max(0, (page - 1) * 450)
        return this.items.slice(from, from + length)
      }
    },
  },
  {
    name: 'a page again',
    defect: 'Page 3 holds the items of page 1.',
    caughtBy: 'C6',
    options: { items: 2345 },
    isWalk: true,
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        return super.itemsOn(page === 3 ? 1 : page, asked)
      }
    },
  },
  {
    name: 'size beside a page',
    defect: 'The parameter per_page counts, but only together with page.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        const query = new URLSearchParams(asked.query)
        const size = query.has('page') ? Number(query.get('per_page') ?? 500) : 500
        return super.itemsOn(page, asked).slice(0, size)
      }
    },
  },
  {
    name: 'a number in every answer',
    defect: 'Every answer carries a number of its own.',
    caughtBy: 'C7',
    also: ['C1', 'D1', 'D2', 'D11', 'D12', 'D13'],
    Server: class extends CorrectServer {
      #number = 0

      override envelope(page: number, asked: Asked) {
        return { ...super.envelope(page, asked), request: ++this.#number + 1_000_000 }
      }
    },
  },
]
