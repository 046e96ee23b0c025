/** Mutants that take the page parameter, or others, for something else than the contract does. */

import { type Change, type Mutant, mutant } from './mutant.ts'

/** Pages are as long as one parameter says, up to 500. */
function sizedBy(name: string, most = 500): Change {
  return () => ({
    pageSize: ({ query }) => Math.max(1, Math.min(most, Number(new URLSearchParams(query).get(name) ?? 500))),
  })
}

const SIZE: readonly Mutant[] = [
  mutant('size by limit', 'limit makes pages shorter.', ['C3'], sizedBy('limit')),
  mutant('size by per_page', 'per_page makes pages shorter.', ['C3'], sizedBy('per_page')),
  mutant('size by page_size', 'page_size makes pages shorter.', ['C3'], sizedBy('page_size')),
  mutant('size by size', 'size makes pages shorter or longer.', ['C3'], sizedBy('size', 5000)),
  mutant('size by count', 'count makes pages shorter.', ['C3'], sizedBy('count')),
  mutant(
    'size by limit, few items',
    'limit makes the only page of 5 items shorter.',
    { rules: ['C3'], items: 5 },
    sizedBy('limit'),
  ),
  mutant('longer pages by limit', 'limit makes pages longer, never shorter.', ['C3'], () => ({
    pageSize: ({ query }) => Math.max(500, Number(new URLSearchParams(query).get('limit') ?? 500)),
  })),
  mutant('size by Prefer', 'The header Prefer: odata.maxpagesize makes pages shorter.', ['C3'], () => ({
    pageSize: ({ headers }) => Number(/odata\.maxpagesize=([0-9]+)/.exec(String(headers['prefer'] ?? ''))?.[1] ?? 500),
  })),
  mutant('size by Range', 'The header Range: items=0-6 cuts the page.', ['C3'], (right) => ({
    itemsOn: (page, asked) => {
      const end = /^items=0-([0-9]+)$/.exec(asked.headers.range ?? '')?.[1]
      return right.itemsOn(page, asked).slice(0, end === undefined ? 500 : Number(end) + 1)
    },
  })),
]

const CHOICE: readonly Mutant[] = [
  mutant('page ignored', 'Every request gets page 1, whatever page says.', ['C6', 'D3'], () => ({
    requestedPage: () => 1n,
  })),
  mutant('parameter with another name', 'The parameter is called p, and page is ignored.', ['C6', 'D3'], (right) => ({
    requestedPage: ({ query }) => right.parsePage(new URLSearchParams(query).getAll('p')),
  })),
  mutant(
    'items of page 1 on every page',
    'Links are those of the page asked for, items those of page 1.',
    ['C6', 'C2'],
    (right) => ({
      itemsOn: (page, asked) => right.items.slice(0, right.itemsOn(page, asked).length),
    }),
  ),
  mutant(
    'deep pages answer page 20',
    'No page beyond 10,000 items is ever answered: page 20 comes instead.',
    { rules: ['C6'], items: 25_000 },
    (right) => ({
      effectivePage: (requested, asked) => Math.min(20, right.effectivePage(requested, asked)),
    }),
  ),
  mutant('pages from 0', 'Pages count from 0: page=1 is the second one.', ['D1', 'C5', 'D3'], (right) => ({
    parsePage: (values) => (/^0*$/.test(values.join() || '0') ? 1n : right.parsePage(values) + 1n),
    href: (page, asked) => right.href(page === undefined ? undefined : page - 1, asked),
  })),
  mutant('page= is refused', 'An empty page is a 400.', ['D1'], (right) => ({
    parsePage: (values) => {
      if (values[0] === '') throw right.invalidPage('')
      return right.parsePage(values)
    },
  })),
  mutant('page= is the last page', 'An empty page answers the last one.', ['D1'], (right) => ({
    parsePage: (values) => (values[0] === '' ? 999n : right.parsePage(values)),
  })),
  mutant('page=1 has other bytes', 'The bare URL says in a field that no page was asked for.', ['D1'], (right) => ({
    envelope: (page, asked) => ({ ...right.envelope(page, asked), ...(asked.query === '' && { is_default: true }) }),
  })),
  mutant('page=1 is redirected', 'page=1 redirects to the bare URL.', ['D1', 'C1'], (right) => ({
    collection: (asked) => {
      if (asked.query !== 'page=1') return right.collection(asked)
      return { status: 301, headers: { Location: right.href(undefined, asked) }, body: Buffer.alloc(0) }
    },
  })),
  mutant('leading zeros refused', 'page=002 is a 400.', ['D2'], (right) => ({
    parsePage: (values) => {
      if (/^0[0-9]/.test(values[0] ?? '')) throw right.invalidPage(String(values[0]))
      return right.parsePage(values)
    },
  })),
  mutant('leading zeros are octal', 'page=002 counts as page 1.', ['D2'], (right) => ({
    parsePage: (values) => (/^0[0-9]*[1-9]/.test(values[0] ?? '') ? 1n : right.parsePage(values)),
  })),
]

/** Takes some values that are not page numbers for a number. */
function lenient(read: (values: readonly string[]) => bigint | undefined): Change {
  return (right) => ({ parsePage: (values) => read(values) ?? right.parsePage(values) })
}

const INVALID: readonly Mutant[] = [
  mutant(
    'page=0 is page 1',
    'page=0 answers page 1.',
    ['D3'],
    lenient(([value]) => (/^0+$/.test(value ?? '') ? 1n : undefined)),
  ),
  mutant(
    'page=-1 is page 1',
    'A negative page answers page 1.',
    ['D3'],
    lenient(([value]) => (value?.startsWith('-') ? 1n : undefined)),
  ),
  mutant(
    'page=abc is page 1',
    'What is no number answers page 1.',
    ['D3'],
    lenient(([value]) => (value === 'abc' ? 1n : undefined)),
  ),
  mutant(
    'page=1.5 is page 1',
    'A number is read as far as it goes: 1.5 and 1e3 answer page 1.',
    ['D3'],
    lenient(([value]) => (/^[1-9][0-9]*[.e]/.test(value ?? '') ? 1n : undefined)),
  ),
  mutant(
    'page="+1" is page 1',
    'A sign and blanks are allowed.',
    ['D3'],
    lenient(([value]) => (/^[+ ][0-9]+$/.test(value ?? '') ? 1n : undefined)),
  ),
  mutant(
    'page=١ is page 1',
    'The digits of any script are digits.',
    ['D3'],
    lenient(([value]) => (/^\p{Nd}$/u.test(value ?? '') && !/[0-9]/.test(value ?? '') ? 1n : undefined)),
  ),
  mutant('page twice takes the first', 'Of two page parameters the first one counts.', ['D3'], (right) => ({
    parsePage: (values) => right.parsePage(values.slice(0, 1)),
  })),
  mutant('invalid pages are 404', 'What is no page number is answered with 404.', ['D3'], (right) => ({
    invalidPage: (value) => right.notFound(`page ${value}`),
  })),
  mutant('invalid pages are 500', 'The server stumbles over what is no page number.', ['D3', 'D14'], () => ({
    invalidPage: (value) => {
      throw new Error(`no page: ${value}`)
    },
  })),
]

const BEYOND: readonly Mutant[] = [
  mutant('page 1 beyond the last', 'A page beyond the last answers page 1.', ['C7'], (right) => ({
    effectivePage: (requested, asked) => (requested > BigInt(right.lastPage(asked)) ? 1 : Number(requested)),
  })),
  mutant('empty page beyond the last', 'A page beyond the last is empty.', ['C7'], () => ({
    effectivePage: (requested) => Number(requested),
  })),
  mutant('empty page beyond the only one', 'A page beyond the only one is empty.', { rules: ['C7'], items: 3 }, () => ({
    effectivePage: (requested) => Number(requested),
  })),
  mutant(
    'page 2 of nothing is 404',
    'A page beyond the only one of an empty collection is a 404.',
    { rules: ['C7'], items: 0 },
    (right) => ({
      effectivePage: (requested, asked) => {
        if (requested > BigInt(right.lastPage(asked))) throw right.notFound(`page ${requested}`)
        return Number(requested)
      },
    }),
  ),
  mutant('404 beyond the last', 'A page beyond the last is a 404.', ['C7'], (right) => ({
    effectivePage: (requested, asked) => {
      if (requested > BigInt(right.lastPage(asked))) throw right.notFound(`page ${requested}`)
      return Number(requested)
    },
  })),
  mutant(
    '404 far beyond the last',
    'The page behind the last answers it, one far behind is a 404.',
    ['C7'],
    (right) => ({
      effectivePage: (requested, asked) => {
        if (requested > BigInt(right.lastPage(asked)) + 100n) throw right.notFound(`page ${requested}`)
        return right.effectivePage(requested, asked)
      },
    }),
  ),
  mutant('redirect to the last', 'A page beyond the last is redirected to the last one.', ['C7'], (right) => ({
    collection: (asked) => {
      const last = right.lastPage(asked)
      if (right.requestedPage(asked) <= BigInt(last)) return right.collection(asked)
      return { status: 302, headers: { Location: right.href(last, asked) }, body: Buffer.alloc(0) }
    },
  })),
  mutant('last page with a warning beyond', 'A page beyond the last says so in a field.', ['C7'], (right) => ({
    envelope: (page, asked) => {
      const isBeyond = right.requestedPage(asked) > BigInt(page)
      return { ...right.envelope(page, asked), ...(isBeyond && { warning: 'there are fewer pages' }) }
    },
  })),
  mutant(
    'ETag of the number asked for',
    'The ETag of a page beyond the last differs from that of the last one.',
    ['C7'],
    (right) => ({
      etag: (plain, encoding, asked) =>
        right.etag(plain, encoding, asked).replace(/"$/, `-${right.requestedPage(asked)}"`),
    }),
  ),
  mutant('overflow at 2^31, to a 500', 'The server stumbles over numbers from 2147483648 on.', ['C7'], (right) => ({
    effectivePage: (requested, asked) => {
      if (requested >= 2n ** 31n) throw new RangeError('integer out of range')
      return right.effectivePage(requested, asked)
    },
  })),
  mutant(
    'overflow at 2^31, to page 1',
    'Numbers wrap around at 32 bits, and negative ones are page 1.',
    ['C7'],
    (right) => ({
      effectivePage: (requested, asked) => {
        const wrapped = BigInt.asIntN(32, requested)
        return right.effectivePage(wrapped < 1n ? 1n : wrapped, asked)
      },
    }),
  ),
  mutant('refusal at 2^53', 'Numbers that a double cannot hold are a 400.', ['C7'], (right) => ({
    effectivePage: (requested, asked) => {
      if (!Number.isSafeInteger(Number(requested))) throw right.invalidPage(String(requested))
      return right.effectivePage(requested, asked)
    },
  })),
  mutant('overflow at 2^64, to page 1', 'Numbers wrap around at 64 bits.', ['C7'], (right) => ({
    effectivePage: (requested, asked) => right.effectivePage(BigInt.asUintN(64, requested), asked),
  })),
  mutant('refusal of 40 digits', 'Numbers of more than 20 digits are a 400.', ['C7'], (right) => ({
    parsePage: (values) => {
      if ((values[0] ?? '').length > 20) throw right.invalidPage(String(values[0]))
      return right.parsePage(values)
    },
  })),
]

const OTHERS: readonly Mutant[] = [
  mutant('unknown parameters refused', 'A parameter that the server does not know is a 400.', ['D11'], (right) => ({
    requestedPage: (asked) => {
      for (const name of new URLSearchParams(asked.query).keys()) if (name !== 'page') throw right.invalidPage(name)
      return right.requestedPage(asked)
    },
  })),
  mutant(
    'unknown parameters filter',
    'A parameter that the server does not know is a filter by a field, which matches nothing.',
    ['D11'],
    (right) => ({
      envelope: (page, asked) => {
        const isFiltered = asked.query.includes('reams-check=')
        return { ...right.envelope(page, asked), ...(isFiltered && { _embedded: { [right.name]: [] } }) }
      },
    }),
  ),
  mutant(
    'a page without pages',
    'Page 2 answers like a collection without pages: no count and no page links.',
    ['C8', 'C5'],
    (right) => ({
      envelope: (page, asked) => {
        if (page !== 2) return right.envelope(page, asked)
        const { self } = right.links(page, asked)
        return { _links: { self }, _embedded: right.embedded(right.itemsOn(page, asked)) }
      },
    }),
  ),
  mutant(
    'pages only when asked for',
    'Without page the collection answers whole, with page in pages.',
    ['C8', 'D10'],
    () => ({
      isPaginated: ({ query }) => query.includes('page='),
    }),
  ),
  mutant(
    'page of an unpaginated collection is refused',
    'An unpaginated collection refuses page=abc.',
    { rules: ['D10'], options: { items: 40, isPaginated: false } },
    (right) => ({
      whole: (asked) => {
        right.requestedPage(asked)
        return right.whole(asked)
      },
    }),
  ),
  mutant(
    'page 2 of an unpaginated collection is empty',
    'An unpaginated collection leaves out what page passes over.',
    { rules: ['D10'], options: { items: 40, isPaginated: false } },
    (right) => ({
      whole: (asked) => {
        const isBeyond = asked.query === 'page=2'
        return { ...right.whole(asked), ...(isBeyond && { _embedded: { [right.name]: [] } }) }
      },
    }),
  ),
  mutant(
    'unpaginated with page=1 in self',
    'self of an unpaginated collection carries a number.',
    { rules: ['D10'], options: { items: 40, isPaginated: false } },
    (right) => ({
      whole: (asked) => ({ ...right.whole(asked), _links: { self: { href: right.href(1, asked) } } }),
    }),
  ),
  mutant(
    'unpaginated and endless',
    'An unpaginated collection holds more than 10,000 items.',
    { rules: ['D10'], options: { items: 10_001, isPaginated: false } },
    () => ({}),
  ),
  mutant(
    'unpaginated under another name',
    'The items of an unpaginated collection stand under "data".',
    { rules: ['D6'], options: { items: 40, isPaginated: false } },
    () => ({
      embedded: (data) => ({ data }),
    }),
  ),
]

export const PAGE_MUTANTS: readonly Mutant[] = [...SIZE, ...CHOICE, ...INVALID, ...BEYOND, ...OTHERS]
