/** Mutants that take the page parameter, or others, for something else than the contract does. */

import { type Asked, CorrectServer, type Links } from '../correct-server.ts'
import type { Mutant } from './mutant.ts'

/** A server whose pages are as long as one parameter says, up to 500. */
function sizedBy(name: string, most = 500): Mutant['Server'] {
  return class extends CorrectServer {
    override pageSize({ query }: Asked) {
      const size = Number(new URLSearchParams(query).get(name) ?? 500)
      return Math.max(1, Math.min(most, size))
    }
  }
}

const SIZE: readonly Mutant[] = [
  { name: 'size by limit', defect: 'limit makes pages shorter.', caughtBy: 'C3', Server: sizedBy('limit') },
  { name: 'size by per_page', defect: 'per_page makes pages shorter.', caughtBy: 'C3', Server: sizedBy('per_page') },
  { name: 'size by page_size', defect: 'page_size makes pages shorter.', caughtBy: 'C3', Server: sizedBy('page_size') },
  {
    name: 'size by size',
    defect: 'size makes pages shorter or longer.',
    caughtBy: 'C3',
    Server: sizedBy('size', 5000),
  },
  { name: 'size by count', defect: 'count makes pages shorter.', caughtBy: 'C3', Server: sizedBy('count') },
  {
    name: 'size by limit, few items',
    defect: 'limit makes the only page of 5 items shorter.',
    caughtBy: 'C3',
    options: { items: 5 },
    Server: sizedBy('limit'),
  },
  {
    name: 'longer pages by limit',
    defect: 'limit makes pages longer, never shorter.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize({ query }: Asked) {
        return Math.max(500, Number(new URLSearchParams(query).get('limit') ?? 500))
      }
    },
  },
  {
    name: 'size by Prefer',
    defect: 'The header Prefer: odata.maxpagesize makes pages shorter.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override pageSize({ headers }: Asked) {
        return Number(/odata\.maxpagesize=([0-9]+)/.exec(String(headers['prefer'] ?? ''))?.[1] ?? 500)
      }
    },
  },
  {
    name: 'size by Range',
    defect: 'The header Range: items=0-6 cuts the page.',
    caughtBy: 'C3',
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        const end = /^items=0-([0-9]+)$/.exec(asked.headers.range ?? '')?.[1]
        return super.itemsOn(page, asked).slice(0, end === undefined ? 500 : Number(end) + 1)
      }
    },
  },
]

const CHOICE: readonly Mutant[] = [
  {
    name: 'page ignored',
    defect: 'Every request gets page 1, whatever page says.',
    caughtBy: 'C6',
    also: ['D3'],
    Server: class extends CorrectServer {
      override requestedPage() {
        return 1n
      }
    },
  },
  {
    name: 'parameter with another name',
    defect: 'The parameter is called p, and page is ignored.',
    caughtBy: 'C6',
    also: ['D3'],
    Server: class extends CorrectServer {
      override requestedPage({ query }: Asked) {
        return this.parsePage(new URLSearchParams(query).getAll('p'))
      }
    },
  },
  {
    name: 'items of page 1 on every page',
    defect: 'Links are those of the page asked for, items those of page 1.',
    caughtBy: 'C6',
    also: ['C2'],
    Server: class extends CorrectServer {
      override itemsOn(page: number, asked: Asked) {
        return this.items.slice(0, super.itemsOn(page, asked).length)
      }
    },
  },
  {
    name: 'deep pages answer page 20',
    defect: 'No page beyond 10,000 items is ever answered: page 20 comes instead.',
    caughtBy: 'C6',
    options: { items: 25_000 },
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        return Math.min(20, super.effectivePage(requested, asked))
      }
    },
  },
  {
    name: 'pages from 0',
    defect: 'Pages count from 0: page=1 is the second one.',
    caughtBy: 'D1',
    also: ['C5', 'D3'],
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        return /^0*$/.test(values.join() || '0') ? 1n : super.parsePage(values) + 1n
      }

      override href(page: number | undefined, asked: Asked) {
        return super.href(page === undefined ? undefined : page - 1, asked)
      }
    },
  },
  {
    name: 'page= is refused',
    defect: 'An empty page is a 400.',
    caughtBy: 'D1',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        if (values[0] === '') throw this.invalidPage('')
        return super.parsePage(values)
      }
    },
  },
  {
    name: 'page= is the last page',
    defect: 'An empty page answers the last one.',
    caughtBy: 'D1',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        return values[0] === '' ? 999n : super.parsePage(values)
      }
    },
  },
  {
    name: 'page=1 has other bytes',
    defect: 'The bare URL says in a field that no page was asked for.',
    caughtBy: 'D1',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        return { ...super.envelope(page, asked), ...(asked.query === '' && { is_default: true }) }
      }
    },
  },
  {
    name: 'page=1 is redirected',
    defect: 'page=1 redirects to the bare URL.',
    caughtBy: 'D1',
    also: ['C1'],
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        if (asked.query !== 'page=1') return super.collection(asked)
        return { status: 301, headers: { Location: this.href(undefined, asked) }, body: Buffer.alloc(0) }
      }
    },
  },
  {
    name: 'leading zeros refused',
    defect: 'page=002 is a 400.',
    caughtBy: 'D2',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        if (/^0[0-9]/.test(values[0] ?? '')) throw this.invalidPage(String(values[0]))
        return super.parsePage(values)
      }
    },
  },
  {
    name: 'leading zeros are octal',
    defect: 'page=002 counts as page 1.',
    caughtBy: 'D2',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        return /^0[0-9]*[1-9]/.test(values[0] ?? '') ? 1n : super.parsePage(values)
      }
    },
  },
]

/** A server that takes some values which are no page numbers for a number. */
function lenient(read: (values: readonly string[]) => bigint | undefined): Mutant['Server'] {
  return class extends CorrectServer {
    override parsePage(values: readonly string[]) {
      return read(values) ?? super.parsePage(values)
    }
  }
}

const INVALID: readonly Mutant[] = [
  {
    name: 'page=0 is page 1',
    defect: 'page=0 answers page 1.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (/^0+$/.test(value ?? '') ? 1n : undefined)),
  },
  {
    name: 'page=-1 is page 1',
    defect: 'A negative page answers page 1.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (value?.startsWith('-') ? 1n : undefined)),
  },
  {
    name: 'page=abc is page 1',
    defect: 'What is no number answers page 1.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (value === 'abc' ? 1n : undefined)),
  },
  {
    name: 'page=1.5 is page 1',
    defect: 'A number is read as far as it goes: 1.5 and 1e3 answer page 1.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (/^[1-9][0-9]*[.e]/.test(value ?? '') ? 1n : undefined)),
  },
  {
    name: 'page="+1" is page 1',
    defect: 'A sign and blanks are allowed.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (/^[+ ][0-9]+$/.test(value ?? '') ? 1n : undefined)),
  },
  {
    name: 'page=١ is page 1',
    defect: 'The digits of any script are digits.',
    caughtBy: 'D3',
    Server: lenient(([value]) => (/^\p{Nd}$/u.test(value ?? '') && !/[0-9]/.test(value ?? '') ? 1n : undefined)),
  },
  {
    name: 'page twice takes the first',
    defect: 'Of two page parameters the first one counts.',
    caughtBy: 'D3',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        return super.parsePage(values.slice(0, 1))
      }
    },
  },
  {
    name: 'invalid pages are 404',
    defect: 'What is no page number is answered with 404.',
    caughtBy: 'D3',
    Server: class extends CorrectServer {
      override invalidPage(value: string) {
        return this.notFound(`page ${value}`)
      }
    },
  },
  {
    name: 'invalid pages are 500',
    defect: 'The server stumbles over what is no page number.',
    caughtBy: 'D3',
    also: ['D14'],
    Server: class extends CorrectServer {
      override invalidPage(value: string): never {
        throw new Error(`no page: ${value}`)
      }
    },
  },
]

const BEYOND: readonly Mutant[] = [
  {
    name: 'page 1 beyond the last',
    defect: 'A page beyond the last answers page 1.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        return requested > BigInt(this.lastPage(asked)) ? 1 : Number(requested)
      }
    },
  },
  {
    name: 'empty page beyond the last',
    defect: 'A page beyond the last is empty.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint) {
        return Number(requested)
      }
    },
  },
  {
    name: 'empty page beyond the only one',
    defect: 'A page beyond the only one is empty.',
    caughtBy: 'C7',
    options: { items: 3 },
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint) {
        return Number(requested)
      }
    },
  },
  {
    name: 'page 2 of nothing is 404',
    defect: 'A page beyond the only one of an empty collection is a 404.',
    caughtBy: 'C7',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        if (requested > BigInt(this.lastPage(asked))) throw this.notFound(`page ${requested}`)
        return Number(requested)
      }
    },
  },
  {
    name: '404 beyond the last',
    defect: 'A page beyond the last is a 404.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        if (requested > BigInt(this.lastPage(asked))) throw this.notFound(`page ${requested}`)
        return Number(requested)
      }
    },
  },
  {
    name: '404 far beyond the last',
    defect: 'The page behind the last answers it, one far behind is a 404.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        if (requested > BigInt(this.lastPage(asked)) + 100n) throw this.notFound(`page ${requested}`)
        return super.effectivePage(requested, asked)
      }
    },
  },
  {
    name: 'redirect to the last',
    defect: 'A page beyond the last is redirected to the last one.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        const last = this.lastPage(asked)
        if (this.requestedPage(asked) <= BigInt(last)) return super.collection(asked)
        return { status: 302, headers: { Location: this.href(last, asked) }, body: Buffer.alloc(0) }
      }
    },
  },
  {
    name: 'last page with a warning beyond',
    defect: 'A page beyond the last says so in a field.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked): Links {
        const isBeyond = this.requestedPage(asked) > BigInt(page)
        return { ...super.envelope(page, asked), ...(isBeyond && { warning: 'there are fewer pages' }) }
      }
    },
  },
  {
    name: 'ETag of the number asked for',
    defect: 'The ETag of a page beyond the last differs from that of the last one.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override etag(...[plain, encoding, asked]: Parameters<CorrectServer['etag']>) {
        return super.etag(plain, encoding, asked).replace(/"$/, `-${this.requestedPage(asked)}"`)
      }
    },
  },
  {
    name: 'overflow at 2^31, to a 500',
    defect: 'The server stumbles over numbers from 2147483648 on.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        if (requested >= 2n ** 31n) throw new RangeError('integer out of range')
        return super.effectivePage(requested, asked)
      }
    },
  },
  {
    name: 'overflow at 2^31, to page 1',
    defect: 'Numbers wrap around at 32 bits, and negative ones are page 1.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        const wrapped = BigInt.asIntN(32, requested)
        return super.effectivePage(wrapped < 1n ? 1n : wrapped, asked)
      }
    },
  },
  {
    name: 'refusal at 2^53',
    defect: 'Numbers that a double cannot hold are a 400.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        if (!Number.isSafeInteger(Number(requested))) throw this.invalidPage(String(requested))
        return super.effectivePage(requested, asked)
      }
    },
  },
  {
    name: 'overflow at 2^64, to page 1',
    defect: 'Numbers wrap around at 64 bits.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override effectivePage(requested: bigint, asked: Asked) {
        return super.effectivePage(BigInt.asUintN(64, requested), asked)
      }
    },
  },
  {
    name: 'refusal of 40 digits',
    defect: 'Numbers of more than 20 digits are a 400.',
    caughtBy: 'C7',
    Server: class extends CorrectServer {
      override parsePage(values: readonly string[]) {
        if ((values[0] ?? '').length > 20) throw this.invalidPage(String(values[0]))
        return super.parsePage(values)
      }
    },
  },
]

const OTHERS: readonly Mutant[] = [
  {
    name: 'unknown parameters refused',
    defect: 'A parameter that the server does not know is a 400.',
    caughtBy: 'D11',
    Server: class extends CorrectServer {
      override requestedPage(asked: Asked) {
        for (const name of new URLSearchParams(asked.query).keys()) if (name !== 'page') throw this.invalidPage(name)
        return super.requestedPage(asked)
      }
    },
  },
  {
    name: 'unknown parameters filter',
    defect: 'A parameter that the server does not know is a filter by a field, which matches nothing.',
    caughtBy: 'D11',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        const isFiltered = asked.query.includes('reams-check=')
        return { ...super.envelope(page, asked), ...(isFiltered && { _embedded: { [this.name]: [] } }) }
      }
    },
  },
  {
    name: 'a page without pages',
    defect: 'Page 2 answers like a collection without pages: no count and no page links.',
    caughtBy: 'C8',
    also: ['C5'],
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked): Links {
        if (page !== 2) return super.envelope(page, asked)
        const { self } = this.links(page, asked)
        return { _links: { self }, _embedded: this.embedded(this.itemsOn(page, asked)) }
      }
    },
  },
  {
    name: 'pages only when asked for',
    defect: 'Without page the collection answers whole, with page in pages.',
    caughtBy: 'C8',
    also: ['D10'],
    Server: class extends CorrectServer {
      override isPaginated({ query }: Asked) {
        return query.includes('page=')
      }
    },
  },
  {
    name: 'page of an unpaginated collection is refused',
    defect: 'An unpaginated collection refuses page=abc.',
    caughtBy: 'D10',
    options: { items: 40, isPaginated: false },
    Server: class extends CorrectServer {
      override whole(asked: Asked) {
        this.requestedPage(asked)
        return super.whole(asked)
      }
    },
  },
  {
    name: 'page 2 of an unpaginated collection is empty',
    defect: 'An unpaginated collection leaves out what page passes over.',
    caughtBy: 'D10',
    options: { items: 40, isPaginated: false },
    Server: class extends CorrectServer {
      override whole(asked: Asked) {
        const isBeyond = asked.query === 'page=2'
        return { ...super.whole(asked), ...(isBeyond && { _embedded: { [this.name]: [] } }) }
      }
    },
  },
  {
    name: 'unpaginated with page=1 in self',
    defect: 'self of an unpaginated collection carries a number.',
    caughtBy: 'D10',
    options: { items: 40, isPaginated: false },
    Server: class extends CorrectServer {
      override whole(asked: Asked) {
        return { ...super.whole(asked), _links: { self: { href: this.href(1, asked) } } }
      }
    },
  },
  {
    name: 'unpaginated and endless',
    defect: 'An unpaginated collection holds more than 10,000 items.',
    caughtBy: 'D10',
    options: { items: 10_001, isPaginated: false },
    Server: CorrectServer,
  },
  {
    name: 'unpaginated under another name',
    defect: 'The items of an unpaginated collection stand under "data".',
    caughtBy: 'D6',
    options: { items: 40, isPaginated: false },
    Server: class extends CorrectServer {
      override embedded(data: readonly unknown[]) {
        return { data }
      }
    },
  },
]

export const PAGE_MUTANTS: readonly Mutant[] = [...SIZE, ...CHOICE, ...INVALID, ...BEYOND, ...OTHERS]
