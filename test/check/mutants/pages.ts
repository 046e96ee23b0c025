/** Mutants that take the page parameter, or others, for something else than the contract does. */

import {
  emptyMutant,
  type Mutant,
  mutant,
  mutantOf,
  redirect,
  type Spoilt,
  type StepsOf,
  unpaginatedMutant,
} from './mutant.ts'

/** Pages are as long as one parameter says, up to 500. */
const sizedBy = (name: string, most = 500): Spoilt => ({
  pageSize: (_size, { query }) => Math.max(1, Math.min(most, Number(new URLSearchParams(query).get(name) ?? 500))),
})

const SIZE: readonly Mutant[] = [
  mutant('limit makes pages shorter.', 'C3', sizedBy('limit')),
  mutant('per_page makes pages shorter.', 'C3', sizedBy('per_page')),
  mutant('page_size makes pages shorter.', 'C3', sizedBy('page_size')),
  mutant('size makes pages shorter or longer.', 'C3', sizedBy('size', 5000)),
  mutant('count makes pages shorter.', 'C3', sizedBy('count')),
  mutantOf({ items: 5 })('limit makes the only page of 5 items shorter.', 'C3', sizedBy('limit')),
  mutant('limit makes pages longer, never shorter.', 'C3', {
    pageSize: (_size, { query }) => Math.max(500, Number(new URLSearchParams(query).get('limit') ?? 500)),
  }),
  mutant('The header Prefer: odata.maxpagesize makes pages shorter.', 'C3', {
    pageSize: (_size, { headers }) => Number(/odata\.maxpagesize=([0-9]+)/.exec(`${headers['prefer']}`)?.[1] ?? 500),
  }),
  mutant('The header Range: items=0-6 cuts the page.', 'C3', {
    itemsOn: (items, _page, { headers }) =>
      items.slice(0, 1 + Number(/^items=0-([0-9]+)$/.exec(headers.range ?? '')?.[1] ?? 500)),
  }),
]

const CHOICE: readonly Mutant[] = [
  mutant('Every request gets page 1, whatever page says.', ['C6', 'D3'], () => ({ requestedPage: () => 1n })),
  mutant('The parameter is called p, and page is ignored.', ['C6', 'D3'], (right) => ({
    requestedPage: ({ query }) => right.parsePage(new URLSearchParams(query).getAll('p')),
  })),
  mutant('Links are those of the page asked for, items those of page 1.', ['C6', 'C2'], {
    itemsOn: ({ length }, _page, _asked, { items }) => items.slice(0, length),
  }),
  mutantOf({ items: 25_000 })('No page beyond 10,000 items is ever answered: page 20 comes instead.', 'C6', {
    effectivePage: (page) => Math.min(20, page),
  }),
  mutant('Pages count from 0: page=1 is the second one.', ['D1', 'C5', 'D3'], (right) => ({
    parsePage: (values) => (/^0*$/.test(values.join() || '0') ? 1n : right.parsePage(values) + 1n),
    href: (page, asked) => right.href(page === undefined ? undefined : page - 1, asked),
  })),
  mutant('An empty page is a 400.', 'D1', {
    parsePage: (page, values, right) => {
      if (values[0] === '') throw right.invalidPage('')
      return page
    },
  }),
  mutant('An empty page answers the last one.', 'D1', {
    parsePage: (page, values) => (values[0] === '' ? 999n : page),
  }),
  mutant('The bare URL says in a field that no page was asked for.', 'D1', {
    envelope: (envelope, _page, { query }) => ({ ...envelope, ...(query === '' && { is_default: true }) }),
  }),
  mutant('page=1 redirects to the bare URL.', ['D1', 'C1'], {
    collection: (answered, asked, right) =>
      asked.query === 'page=1' ? redirect(301, right.href(undefined, asked)) : answered,
  }),
  mutant('page=002 is a 400.', 'D2', {
    parsePage: (page, [value = ''], right) => {
      if (/^0[0-9]/.test(value)) throw right.invalidPage(value)
      return page
    },
  }),
  mutant('page=002 counts as page 1.', 'D2', {
    parsePage: (page, [value = '']) => (/^0[0-9]*[1-9]/.test(value) ? 1n : page),
  }),
]

/** Takes what looks like this for page 1, though it is not a page number. */
const lenient =
  (isTaken: RegExp): StepsOf =>
  (right) => ({ parsePage: (values) => (isTaken.test(values[0] ?? '') ? 1n : right.parsePage(values)) })

const INVALID: readonly Mutant[] = [
  mutant('page=0 answers page 1.', 'D3', lenient(/^0+$/)),
  mutant('A negative page answers page 1.', 'D3', lenient(/^-/)),
  mutant('What is no number answers page 1.', 'D3', lenient(/^abc$/)),
  mutant('A number is read as far as it goes: 1.5 and 1e3 answer page 1.', 'D3', lenient(/^[1-9][0-9]*[.e]/)),
  mutant('A sign and blanks are allowed.', 'D3', lenient(/^[+ ][0-9]+$/)),
  mutant('The digits of any script are digits.', 'D3', lenient(/^(?![0-9])\p{Nd}$/u)),
  mutant('Of two page parameters the first one counts.', 'D3', (right) => ({
    parsePage: (values) => right.parsePage(values.slice(0, 1)),
  })),
  mutant('What is no page number is answered with 404.', 'D3', (right) => ({
    invalidPage: (value) => right.notFound(`page ${value}`),
  })),
  mutant('The server stumbles over what is no page number.', ['D3', 'D14'], {
    invalidPage: (_problem, value) => {
      throw new Error(`no page: ${value}`)
    },
  }),
]

/** Pages of which the number is this much above that of the last one are a 404. */
const notFoundBeyond = (more: bigint): Spoilt => ({
  effectivePage: (page, requested, asked, right) => {
    if (requested > BigInt(right.lastPage(asked)) + more) throw right.notFound(`page ${requested}`)
    return page
  },
})

const BEYOND: readonly Mutant[] = [
  mutant('A page beyond the last answers page 1.', 'C7', {
    effectivePage: (page, requested) => (requested > BigInt(page) ? 1 : page),
  }),
  mutant('A page beyond the last is empty.', 'C7', { effectivePage: (_page, requested) => Number(requested) }),
  mutantOf({ items: 3 })('A page beyond the only one is empty.', 'C7', {
    effectivePage: (_page, requested) => Number(requested),
  }),
  emptyMutant('A page beyond the only one of an empty collection is a 404.', 'C7', notFoundBeyond(0n)),
  mutant('A page beyond the last is a 404.', 'C7', notFoundBeyond(0n)),
  mutant('The page behind the last answers it, one far behind is a 404.', 'C7', notFoundBeyond(100n)),
  mutant('A page beyond the last is redirected to the last one.', 'C7', {
    collection: (answered, asked, right) =>
      right.requestedPage(asked) > 3n ? redirect(302, right.href(3, asked)) : answered,
  }),
  mutant('A page beyond the last says so in a field.', 'C7', {
    envelope: (envelope, page, asked, right) => {
      const isBeyond = right.requestedPage(asked) > BigInt(page)
      return { ...envelope, ...(isBeyond && { warning: 'there are fewer pages' }) }
    },
  }),
  mutant('The ETag of a page beyond the last differs from that of the last one.', 'C7', {
    etag: (tag, _plain, _encoding, asked, right) => tag.replace(/"$/, `-${right.requestedPage(asked)}"`),
  }),
  mutant('The server stumbles over numbers from 2147483648 on.', 'C7', {
    effectivePage: (page, requested) => {
      if (requested >= 2n ** 31n) throw new RangeError('integer out of range')
      return page
    },
  }),
  mutant('Numbers wrap around at 32 bits, and negative ones are page 1.', 'C7', (right) => ({
    effectivePage: (requested, asked) => {
      const wrapped = BigInt.asIntN(32, requested)
      return right.effectivePage(wrapped < 1n ? 1n : wrapped, asked)
    },
  })),
  mutant('Numbers that a double cannot hold are a 400.', 'C7', {
    effectivePage: (page, requested, _asked, right) => {
      if (!Number.isSafeInteger(Number(requested))) throw right.invalidPage(String(requested))
      return page
    },
  }),
  mutant('Numbers wrap around at 64 bits.', 'C7', (right) => ({
    effectivePage: (requested, asked) => right.effectivePage(BigInt.asUintN(64, requested), asked),
  })),
  mutant('Numbers of more than 20 digits are a 400.', 'C7', {
    parsePage: (page, [value = ''], right) => {
      if (value.length > 20) throw right.invalidPage(value)
      return page
    },
  }),
]

const OTHERS: readonly Mutant[] = [
  mutant('A parameter that the server does not know is a 400.', 'D11', {
    requestedPage: (page, { query }, right) => {
      for (const name of new URLSearchParams(query).keys()) if (name !== 'page') throw right.invalidPage(name)
      return page
    },
  }),
  mutant('A parameter that the server does not know is a filter by a field, which matches nothing.', 'D11', {
    envelope: (envelope, _page, { query }) =>
      query.includes('reams-check=') ? { ...envelope, _embedded: { events: [] } } : envelope,
  }),
  mutant('Page 2 answers like a collection without pages: no count and no page links.', ['C8', 'C5'], {
    envelope: (envelope, page, asked, right) => {
      if (page !== 2) return envelope
      return { _links: { self: right.links(2, asked)['self'] }, _embedded: envelope['_embedded'] }
    },
  }),
  mutant('Without page the collection answers whole, with page in pages.', ['C8', 'D10'], {
    isPaginated: (_isPaginated, { query }) => query.includes('page='),
  }),
  unpaginatedMutant('An unpaginated collection refuses page=abc.', 'D10', {
    whole: (whole, asked, right) => {
      right.requestedPage(asked)
      return whole
    },
  }),
  unpaginatedMutant('An unpaginated collection leaves out what page passes over.', 'D10', {
    whole: (whole, { query }) => (query === 'page=2' ? { ...whole, _embedded: { events: [] } } : whole),
  }),
  unpaginatedMutant('self of an unpaginated collection carries a number.', 'D10', {
    whole: (whole, asked, right) => ({ ...whole, _links: { self: { href: right.href(1, asked) } } }),
  }),
  mutantOf({ items: 10_001, isPaginated: false })('An unpaginated collection holds more than 10,000 items.', 'D10', {}),
  unpaginatedMutant('The items of an unpaginated collection stand under "data".', 'D6', {
    embedded: (_embedded, data) => ({ data }),
  }),
]

export const PAGE_MUTANTS: readonly Mutant[] = [...SIZE, ...CHOICE, ...INVALID, ...BEYOND, ...OTHERS]
