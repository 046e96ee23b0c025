/** Mutants with wrong links. */

import { type Mutant, mapPageLinks, mutant, without } from './mutant.ts'

/** Links that have the wrong form, `self` among them where one function makes all of them. */
const FORM: readonly Mutant[] = [
  mutant('relative links', 'Links are paths without a host.', ['C4', 'D7'], (right) => ({
    collectionUrl: () => `/${right.name}`,
  })),
  mutant(
    'protocol-relative links',
    'Links begin with two slashes and leave the scheme to the client.',
    ['C4', 'D7'],
    (right) => ({
      collectionUrl: (asked) => right.collectionUrl(asked).replace('http:', ''),
    }),
  ),
  mutant('links to another host', 'Links name an internal host.', ['C4', 'D7'], (right) => ({
    collectionUrl: () => `http://backend.internal/${right.name}`,
  })),
  mutant('links to another port', 'Links name the default port instead of the own one.', ['C4', 'D7'], (right) => ({
    collectionUrl: (asked) => right.collectionUrl(asked).replace(/:[0-9]+/, ''),
  })),
  mutant('links with another scheme', 'Links say https where the service speaks http.', ['C4', 'D7'], (right) => ({
    collectionUrl: (asked) => right.collectionUrl(asked).replace('http:', 'https:'),
  })),
  mutant('links to another path', 'Links lead to a path that only exists behind the proxy.', ['C4', 'D7'], (right) => ({
    collectionUrl: () => `${right.baseUrl}/internal/${right.name}`,
  })),
  mutant('trailing slash in links', 'Links have a slash behind the name of the collection.', ['C4', 'D7'], (right) => ({
    collectionUrl: (asked) => `${right.collectionUrl(asked)}/`,
  })),
  mutant('user name in links', 'Links hold a user name.', ['C4', 'D7'], (right) => ({
    collectionUrl: (asked) => right.collectionUrl(asked).replace('//', '//guest@'),
  })),
  mutant('fragment in links', 'Links end with a fragment.', ['C4'], (right) => ({
    links: (page, asked) => mapPageLinks(right.links(page, asked), (href) => ({ href: `${href}#items` })),
  })),
  mutant('question mark without a query', 'first ends with a question mark.', ['C4'], (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), first: { href: `${right.href(undefined, asked)}?` } }),
  })),
  mutant('title in links', 'Links have a title beside href.', ['C4'], (right) => ({
    links: (page, asked) => mapPageLinks(right.links(page, asked), (href, title) => ({ href, title })),
  })),
  mutant('links as text', 'Links are texts instead of objects.', ['C4'], (right) => ({
    links: (page, asked) => mapPageLinks(right.links(page, asked), (href) => href),
  })),
  mutant('links as arrays', 'Each link stands in an array of its own.', ['C4'], (right) => ({
    links: (page, asked) => mapPageLinks(right.links(page, asked), (href) => [{ href }]),
  })),
  mutant('links with limit=500', 'Links carry the size of a page.', ['C4'], (right) => ({
    links: (page, asked) => {
      return mapPageLinks(right.links(page, asked), (href) => ({
        href: `${href}${href.includes('?') ? '&' : '?'}limit=500`,
      }))
    },
  })),
  mutant('reflected parameters', 'Links repeat whatever parameters the request has.', ['C4', 'D11'], (right) => ({
    href: (page, asked) => {
      const query = new URLSearchParams(asked.query)
      query.delete('page')
      if (page !== undefined) query.set('page', String(page))
      return `${right.collectionUrl(asked)}${query.size > 0 ? '?' : ''}${query}`
    },
  })),
  mutant('padded numbers in links', 'Links are written with leading zeros.', ['D2'], (right) => ({
    links: (page, asked) =>
      mapPageLinks(right.links(page, asked), (href) => ({ href: href.replace('page=', 'page=00') })),
  })),
  mutant(
    'number among the links',
    'Another entry of _links is a number.',
    { rules: ['C9'], isDoubt: true },
    (right) => ({
      links: (page, asked) => ({ ...right.links(page, asked), total: right.lastPage(asked) }),
    }),
  ),
]

/** Links that are missing, or lead to the wrong page. */
const TARGETS: readonly Mutant[] = [
  mutant(
    'one page too many',
    'The number of pages is floor(n / 500) + 1: one too many for 1000 items.',
    { rules: ['C5', 'C7', 'D4'], items: 1000 },
    (right) => ({
      lastPage: () => Math.floor(right.items.length / 500) + 1,
    }),
  ),
  mutant('last one too far', 'The link last leads to the page behind the last one.', ['C5'], (right) => ({
    links: (page, asked) => ({
      ...right.links(page, asked),
      last: { href: right.href(right.lastPage(asked) + 1, asked) },
    }),
  })),
  mutant('last one too near', 'The link last is floor(n / 500): page 2 of 3.', ['C5'], (right) => ({
    links: (page, asked) => {
      const last = Math.max(1, Math.floor(right.items.length / 500))
      return { ...right.links(page, asked), last: { href: right.href(last, asked) } }
    },
  })),
  mutant(
    'last of an empty collection is 0',
    'An empty collection has page 0 as its last.',
    { rules: ['C5'], items: 0 },
    (right) => ({
      links: (page, asked) => {
        const last = Math.ceil(right.items.length / 500)
        return { ...right.links(page, asked), last: { href: right.href(last, asked) } }
      },
    }),
  ),
  mutant('no links when empty', 'An empty collection has only a self.', { rules: ['C5'], items: 0 }, (right) => ({
    links: (page, asked) => {
      const { self } = right.links(page, asked)
      return { self }
    },
  })),
  mutant('prev to page 1 without a number', 'prev on page 2 is the bare URL.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return page === 2 ? { ...links, prev: links['first'] } : links
    },
  })),
  mutant(
    'last of one page without a number',
    'last of a collection with one page is the bare URL.',
    { rules: ['C5'], items: 10 },
    (right) => ({
      links: (page, asked) => {
        const links = right.links(page, asked)
        return right.lastPage(asked) === 1 ? { ...links, last: links['first'] } : links
      },
    }),
  ),
  mutant('first with page=1', 'first carries a page parameter.', ['C5'], (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), first: { href: right.href(1, asked) } }),
  })),
  mutant('first with an empty page', 'first ends with "?page=".', ['C5', 'C4'], (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), first: { href: `${right.href(undefined, asked)}?page=` } }),
  })),
  mutant('no first', 'There is no link first.', ['C5'], (right) => ({
    links: (page, asked) => without(right.links(page, asked), 'first'),
  })),
  mutant('no first on page 1', 'The first page has no link first.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return page === 1 ? without(links, 'first') : links
    },
  })),
  mutant('no last', 'There is no link last.', ['C5'], (right) => ({
    links: (page, asked) => without(right.links(page, asked), 'last'),
  })),
  mutant('no last on the last page', 'The last page has no link last.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return page === right.lastPage(asked) ? without(links, 'last') : links
    },
  })),
  mutant('no next in the middle', 'Page 2 of 3 has no next.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return page === 2 ? without(links, 'next') : links
    },
  })),
  mutant('no prev', 'No page has a link prev.', ['C5'], (right) => ({
    links: (page, asked) => without(right.links(page, asked), 'prev'),
  })),
  mutant('null next in the middle', 'next is null on page 2 of 3.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return page === 2 ? { ...links, next: null } : links
    },
  })),
  mutant('next leaves out a page', 'next leads two pages on.', { rules: ['C5'], items: 2600 }, (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      const next = Math.min(page + 2, right.lastPage(asked))
      return links['next'] === undefined ? links : { ...links, next: { href: right.href(next, asked) } }
    },
  })),
  mutant(
    'next of one page far inside',
    'next of page 30 of 50 leads back to itself.',
    { rules: ['C5'], items: 25_000, isWalk: true },
    (right) => ({
      links: (page, asked) => {
        const links = right.links(page, asked)
        return page === 30 ? { ...links, next: links['self'] } : links
      },
    }),
  ),
  mutant('prev to the same page', 'prev leads to the page on which it stands.', ['C5'], (right) => ({
    links: (page, asked) => {
      const links = right.links(page, asked)
      return links['prev'] === undefined ? links : { ...links, prev: links['self'] }
    },
  })),
  mutant('next on the last page', 'The last page has a next, to the page behind it.', ['D4'], (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), next: { href: right.href(page + 1, asked) } }),
  })),
  mutant('next on the only page', 'The only page has a next, to itself.', { rules: ['D4'], items: 10 }, (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), next: { href: right.href(page, asked) } }),
  })),
  mutant('null next', 'next is null on the last page.', ['D4'], (right) => ({
    links: (page, asked) => ({ next: null, ...right.links(page, asked) }),
  })),
  mutant('null prev', 'prev is null on the first page.', ['D4'], (right) => ({
    links: (page, asked) => ({ prev: null, ...right.links(page, asked) }),
  })),
  mutant('prev on page 1', 'The first page has a prev, to page 0.', ['D4'], (right) => ({
    links: (page, asked) => ({ ...right.links(page, asked), prev: { href: right.href(page - 1, asked) } }),
  })),
  mutant('no self', 'There is no link self.', ['D7'], (right) => ({
    links: (page, asked) => without(right.links(page, asked), 'self'),
  })),
  mutant('bare self', 'self of page 1 carries no number.', ['D7'], (right) => ({
    links: (page, asked) => ({
      ...right.links(page, asked),
      ...(page === 1 && { self: { href: right.href(undefined, asked) } }),
    }),
  })),
  mutant(
    'self with the number asked for',
    'self names the page that was asked for, also beyond the last one.',
    ['D7', 'C7'],
    (right) => ({
      links: (page, asked) => {
        return {
          ...right.links(page, asked),
          self: { href: `${right.href(undefined, asked)}?page=${right.requestedPage(asked)}` },
        }
      },
    }),
  ),
  mutant(
    'self echoes the request',
    'self is the URL of the request, with all that stands in it.',
    ['D7', 'C7', 'D1', 'D2', 'D11'],
    (right) => ({
      links: (page, asked) => {
        const query = asked.query === '' ? '' : `?${asked.query}`
        return { ...right.links(page, asked), self: { href: right.href(undefined, asked) + query } }
      },
    }),
  ),
]

/** Links that depend on the headers of the request. */
const HEADERS: readonly Mutant[] = [
  mutant('links from Host', 'Links begin with whatever the Host header says.', ['D17'], (right) => ({
    collectionUrl: ({ headers }) => `http://${headers.host}/${right.name}`,
  })),
  mutant('links from X-Forwarded-Host', 'Links believe X-Forwarded-Host from anybody.', ['D17'], (right) => ({
    collectionUrl: ({ headers }) => {
      const host = headers['x-forwarded-host']
      return `${host === undefined ? right.baseUrl : `http://${host}`}/${right.name}`
    },
  })),
  mutant('links from X-Forwarded-Proto', 'Links believe X-Forwarded-Proto from anybody.', ['D17'], (right) => ({
    collectionUrl: (asked) =>
      right.collectionUrl(asked).replace('http', String(asked.headers['x-forwarded-proto'] ?? 'http')),
  })),
  mutant(
    'links from X-Forwarded-Prefix',
    'Links believe X-Forwarded-Prefix, and the server refuses a strange Host.',
    ['D17'],
    (right) => ({
      answer: (asked) => {
        const isOwn = asked.headers.host === new URL(right.baseUrl).host
        return isOwn ? right.answer(asked) : { status: 421, headers: {}, body: Buffer.alloc(0) }
      },
      collectionUrl: ({ headers }) => `${right.baseUrl}${headers['x-forwarded-prefix'] ?? ''}/${right.name}`,
    }),
  ),
  mutant('links from Forwarded', 'Links believe the Forwarded header from anybody.', ['D17'], (right) => ({
    links: (page, asked) => {
      const host = /host=([^;]+)/.exec(asked.headers.forwarded ?? '')?.[1] ?? new URL(right.baseUrl).host
      return mapPageLinks(right.links(page, asked), (href) => ({ href: href.replace(/\/\/[^/]+/, `//${host}`) }))
    },
  })),
]

export const LINK_MUTANTS: readonly Mutant[] = [
  ...FORM,
  ...TARGETS,
  ...HEADERS,
  mutant('links that keep the order', 'Links repeat the parameter sort, which the server knows.', ['C4'], (right) => ({
    links: (page, asked) => {
      const sort = new URLSearchParams(asked.query).get('sort')
      const links = right.links(page, asked)
      if (sort === null) return links
      return mapPageLinks(links, (href) => ({ href: `${href}${href.includes('?') ? '&' : '?'}sort=${sort}` }))
    },
  })),
]
