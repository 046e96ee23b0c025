/** Mutants with wrong links. */

import { type Asked, CorrectServer, type Links } from '../correct-server.ts'
import { type Mutant, mapPageLinks, without } from './mutant.ts'

/** Links that have the wrong form, `self` among them where one function makes all of them. */
const FORM: readonly Mutant[] = [
  {
    name: 'relative links',
    defect: 'Links are paths without a host.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl() {
        return `/${this.name}`
      }
    },
  },
  {
    name: 'protocol-relative links',
    defect: 'Links begin with two slashes and leave the scheme to the client.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return super.collectionUrl(asked).replace('http:', '')
      }
    },
  },
  {
    name: 'links to another host',
    defect: 'Links name an internal host.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl() {
        return `http://backend.internal/${this.name}`
      }
    },
  },
  {
    name: 'links to another port',
    defect: 'Links name the default port instead of the own one.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return super.collectionUrl(asked).replace(/:[0-9]+/, '')
      }
    },
  },
  {
    name: 'links with another scheme',
    defect: 'Links say https where the service speaks http.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return super.collectionUrl(asked).replace('http:', 'https:')
      }
    },
  },
  {
    name: 'links to another path',
    defect: 'Links lead to a path that only exists behind the proxy.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl() {
        return `${this.baseUrl}/internal/${this.name}`
      }
    },
  },
  {
    name: 'trailing slash in links',
    defect: 'Links have a slash behind the name of the collection.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return `${super.collectionUrl(asked)}/`
      }
    },
  },
  {
    name: 'user name in links',
    defect: 'Links hold a user name.',
    caughtBy: 'C4',
    also: ['D7'],
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return super.collectionUrl(asked).replace('//', '//guest@')
      }
    },
  },
  {
    name: 'fragment in links',
    defect: 'Links end with a fragment.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href) => ({ href: `${href}#items` }))
      }
    },
  },
  {
    name: 'question mark without a query',
    defect: 'first ends with a question mark.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), first: { href: `${this.href(undefined, asked)}?` } }
      }
    },
  },
  {
    name: 'title in links',
    defect: 'Links have a title beside href.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href, title) => ({ href, title }))
      }
    },
  },
  {
    name: 'links as text',
    defect: 'Links are texts instead of objects.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href) => href)
      }
    },
  },
  {
    name: 'links as arrays',
    defect: 'Each link stands in an array of its own.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href) => [{ href }])
      }
    },
  },
  {
    name: 'links with limit=500',
    defect: 'Links carry the size of a page.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href) => ({
          href: `${href}${href.includes('?') ? '&' : '?'}limit=500`,
        }))
      }
    },
  },
  {
    name: 'reflected parameters',
    defect: 'Links repeat whatever parameters the request has.',
    caughtBy: 'C4',
    also: ['D11'],
    Server: class extends CorrectServer {
      override href(page: number | undefined, asked: Asked) {
        const query = new URLSearchParams(asked.query)
        query.delete('page')
        if (page !== undefined) query.set('page', String(page))
        return `${this.collectionUrl(asked)}${query.size > 0 ? '?' : ''}${query}`
      }
    },
  },
  {
    name: 'padded numbers in links',
    defect: 'Links are written with leading zeros.',
    caughtBy: 'D2',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return mapPageLinks(super.links(page, asked), (href) => ({ href: href.replace('page=', 'page=00') }))
      }
    },
  },
  {
    name: 'number among the links',
    defect: 'Another entry of _links is a number.',
    caughtBy: 'C9',
    isDoubt: true,
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), total: this.lastPage(asked) }
      }
    },
  },
]

/** Links that are missing, or lead to the wrong page. */
const TARGETS: readonly Mutant[] = [
  {
    name: 'one page too many',
    defect: 'The number of pages is floor(n / 500) + 1: one too many for 1000 items.',
    caughtBy: 'C5',
    also: ['C7', 'D4'],
    options: { items: 1000 },
    Server: class extends CorrectServer {
      override lastPage() {
        return Math.floor(this.items.length / 500) + 1
      }
    },
  },
  {
    name: 'last one too far',
    defect: 'The link last leads to the page behind the last one.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), last: { href: this.href(this.lastPage(asked) + 1, asked) } }
      }
    },
  },
  {
    name: 'last one too near',
    defect: 'The link last is floor(n / 500): page 2 of 3.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const last = Math.max(1, Math.floor(this.items.length / 500))
        return { ...super.links(page, asked), last: { href: this.href(last, asked) } }
      }
    },
  },
  {
    name: 'last of an empty collection is 0',
    defect: 'An empty collection has page 0 as its last.',
    caughtBy: 'C5',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const last = Math.ceil(this.items.length / 500)
        return { ...super.links(page, asked), last: { href: this.href(last, asked) } }
      }
    },
  },
  {
    name: 'no links when empty',
    defect: 'An empty collection has only a self.',
    caughtBy: 'C5',
    options: { items: 0 },
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const { self } = super.links(page, asked)
        return { self }
      }
    },
  },
  {
    name: 'prev to page 1 without a number',
    defect: 'prev on page 2 is the bare URL.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === 2 ? { ...links, prev: links['first'] } : links
      }
    },
  },
  {
    name: 'last of one page without a number',
    defect: 'last of a collection with one page is the bare URL.',
    caughtBy: 'C5',
    options: { items: 10 },
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return this.lastPage(asked) === 1 ? { ...links, last: links['first'] } : links
      }
    },
  },
  {
    name: 'first with page=1',
    defect: 'first carries a page parameter.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), first: { href: this.href(1, asked) } }
      }
    },
  },
  {
    name: 'first with an empty page',
    defect: 'first ends with "?page=".',
    caughtBy: 'C5',
    also: ['C4'],
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), first: { href: `${this.href(undefined, asked)}?page=` } }
      }
    },
  },
  {
    name: 'no first',
    defect: 'There is no link first.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return without(super.links(page, asked), 'first')
      }
    },
  },
  {
    name: 'no first on page 1',
    defect: 'The first page has no link first.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === 1 ? without(links, 'first') : links
      }
    },
  },
  {
    name: 'no last',
    defect: 'There is no link last.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return without(super.links(page, asked), 'last')
      }
    },
  },
  {
    name: 'no last on the last page',
    defect: 'The last page has no link last.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === this.lastPage(asked) ? without(links, 'last') : links
      }
    },
  },
  {
    name: 'no next in the middle',
    defect: 'Page 2 of 3 has no next.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === 2 ? without(links, 'next') : links
      }
    },
  },
  {
    name: 'no prev',
    defect: 'No page has a link prev.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return without(super.links(page, asked), 'prev')
      }
    },
  },
  {
    name: 'null next in the middle',
    defect: 'next is null on page 2 of 3.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === 2 ? { ...links, next: null } : links
      }
    },
  },
  {
    name: 'next leaves out a page',
    defect: 'next leads two pages on.',
    caughtBy: 'C5',
    options: { items: 2600 },
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        const next = Math.min(page + 2, this.lastPage(asked))
        return links['next'] === undefined ? links : { ...links, next: { href: this.href(next, asked) } }
      }
    },
  },
  {
    name: 'next of one page far inside',
    defect: 'next of page 30 of 50 leads back to itself.',
    caughtBy: 'C5',
    options: { items: 25_000 },
    isWalk: true,
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return page === 30 ? { ...links, next: links['self'] } : links
      }
    },
  },
  {
    name: 'prev to the same page',
    defect: 'prev leads to the page on which it stands.',
    caughtBy: 'C5',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const links = super.links(page, asked)
        return links['prev'] === undefined ? links : { ...links, prev: links['self'] }
      }
    },
  },
  {
    name: 'next on the last page',
    defect: 'The last page has a next, to the page behind it.',
    caughtBy: 'D4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), next: { href: this.href(page + 1, asked) } }
      }
    },
  },
  {
    name: 'next on the only page',
    defect: 'The only page has a next, to itself.',
    caughtBy: 'D4',
    options: { items: 10 },
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), next: { href: this.href(page, asked) } }
      }
    },
  },
  {
    name: 'null next',
    defect: 'next is null on the last page.',
    caughtBy: 'D4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { next: null, ...super.links(page, asked) }
      }
    },
  },
  {
    name: 'null prev',
    defect: 'prev is null on the first page.',
    caughtBy: 'D4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { prev: null, ...super.links(page, asked) }
      }
    },
  },
  {
    name: 'prev on page 1',
    defect: 'The first page has a prev, to page 0.',
    caughtBy: 'D4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), prev: { href: this.href(page - 1, asked) } }
      }
    },
  },
  {
    name: 'no self',
    defect: 'There is no link self.',
    caughtBy: 'D7',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return without(super.links(page, asked), 'self')
      }
    },
  },
  {
    name: 'bare self',
    defect: 'self of page 1 carries no number.',
    caughtBy: 'D7',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return { ...super.links(page, asked), ...(page === 1 && { self: { href: this.href(undefined, asked) } }) }
      }
    },
  },
  {
    name: 'self with the number asked for',
    defect: 'self names the page that was asked for, also beyond the last one.',
    caughtBy: 'D7',
    also: ['C7'],
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        return {
          ...super.links(page, asked),
          self: { href: `${this.href(undefined, asked)}?page=${this.requestedPage(asked)}` },
        }
      }
    },
  },
  {
    name: 'self echoes the request',
    defect: 'self is the URL of the request, with all that stands in it.',
    caughtBy: 'D7',
    also: ['C7', 'D1', 'D2', 'D11'],
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const query = asked.query === '' ? '' : `?${asked.query}`
        return { ...super.links(page, asked), self: { href: this.href(undefined, asked) + query } }
      }
    },
  },
]

/** Links that depend on the headers of the request. */
const HEADERS: readonly Mutant[] = [
  {
    name: 'links from Host',
    defect: 'Links begin with whatever the Host header says.',
    caughtBy: 'D17',
    Server: class extends CorrectServer {
      override collectionUrl({ headers }: Asked) {
        return `http://${headers.host}/${this.name}`
      }
    },
  },
  {
    name: 'links from X-Forwarded-Host',
    defect: 'Links believe X-Forwarded-Host from anybody.',
    caughtBy: 'D17',
    Server: class extends CorrectServer {
      override collectionUrl({ headers }: Asked) {
        const host = headers['x-forwarded-host']
        return `${host === undefined ? this.baseUrl : `http://${host}`}/${this.name}`
      }
    },
  },
  {
    name: 'links from X-Forwarded-Proto',
    defect: 'Links believe X-Forwarded-Proto from anybody.',
    caughtBy: 'D17',
    Server: class extends CorrectServer {
      override collectionUrl(asked: Asked) {
        return super.collectionUrl(asked).replace('http', String(asked.headers['x-forwarded-proto'] ?? 'http'))
      }
    },
  },
  {
    name: 'links from X-Forwarded-Prefix',
    defect: 'Links believe X-Forwarded-Prefix, and the server refuses a strange Host.',
    caughtBy: 'D17',
    Server: class extends CorrectServer {
      override answer(asked: Asked) {
        const isOwn = asked.headers.host === new URL(this.baseUrl).host
        return isOwn ? super.answer(asked) : { status: 421, headers: {}, body: Buffer.alloc(0) }
      }

      override collectionUrl({ headers }: Asked) {
        return `${this.baseUrl}${headers['x-forwarded-prefix'] ?? ''}/${this.name}`
      }
    },
  },
  {
    name: 'links from Forwarded',
    defect: 'Links believe the Forwarded header from anybody.',
    caughtBy: 'D17',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked): Links {
        const host = /host=([^;]+)/.exec(asked.headers.forwarded ?? '')?.[1] ?? new URL(this.baseUrl).host
        return mapPageLinks(super.links(page, asked), (href) => ({ href: href.replace(/\/\/[^/]+/, `//${host}`) }))
      }
    },
  },
]

export const LINK_MUTANTS: readonly Mutant[] = [
  ...FORM,
  ...TARGETS,
  ...HEADERS,
  {
    name: 'links that keep the order',
    defect: 'Links repeat the parameter sort, which the server knows.',
    caughtBy: 'C4',
    Server: class extends CorrectServer {
      override links(page: number, asked: Asked) {
        const sort = new URLSearchParams(asked.query).get('sort')
        const links = super.links(page, asked)
        if (sort === null) return links
        return mapPageLinks(links, (href) => ({ href: `${href}${href.includes('?') ? '&' : '?'}sort=${sort}` }))
      }
    },
  },
]
