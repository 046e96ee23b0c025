/** Mutants with wrong links. */

import type { RuleId } from '../../../src/check/index.ts'
import type { Links } from '../correct-server.ts'
import { emptyMutant, longMutant, type Mutant, mapPageLinks, mutant, mutantOf, type Spoilt, without } from './mutant.ts'

const withQuery = (href: string, query: string) => `${href}${href.includes('?') ? '&' : '?'}${query}`

/** Makes the four links out of their addresses. */
const linking = (defect: string, rule: RuleId, change: Parameters<typeof mapPageLinks>[1]): Mutant =>
  mutant(defect, rule, { links: (links) => mapPageLinks(links, change) })

const replacingUrl = (from: string | RegExp, to: string): Spoilt => ({ collectionUrl: (url) => url.replace(from, to) })

const adding = (more: Links): Spoilt => ({ links: (links) => ({ ...links, ...more }) })

/** Leads a link to another page. */
const leading = (relation: string, target: number | undefined, suffix = ''): Spoilt => ({
  links: (links, _page, asked, right) => ({ ...links, [relation]: { href: right.href(target, asked) + suffix } }),
})

/** Leaves out a link, on all pages or on one. */
const lacking = (relation: string, on?: number): Spoilt => ({
  links: (links, page) => (on === undefined || page === on ? without(links, relation) : links),
})

/** Replaces a link of a page with another link of it, or with null. */
const sharing = (relation: string, other: string | null, on?: number): Spoilt => ({
  links: (links, page) => (on === undefined || page === on ? { ...links, [relation]: other && links[other] } : links),
})

/** Links that have the wrong form, `self` among them where one function makes all of them. */
const FORM: readonly Mutant[] = [
  mutant('Links are paths without a host.', ['C4', 'D7'], replacingUrl(/.*/, '/events')),
  mutant('Links begin with two slashes and leave the scheme to the client.', ['C4', 'D7'], replacingUrl('http:', '')),
  mutant('Links name an internal host.', ['C4', 'D7'], replacingUrl(/.*/, 'http://backend.internal/events')),
  mutant('Links name the default port instead of the own one.', ['C4', 'D7'], replacingUrl(/:[0-9]+/, '')),
  mutant('Links say https where the service speaks http.', ['C4', 'D7'], replacingUrl('http:', 'https:')),
  mutant(
    'Links lead to a path that only exists behind the proxy.',
    ['C4', 'D7'],
    replacingUrl('/events', '/internal/events'),
  ),
  mutant('Links have a slash behind the name of the collection.', ['C4', 'D7'], replacingUrl(/$/, '/')),
  mutant('Links hold a user name.', ['C4', 'D7'], replacingUrl('//', '//guest@')),
  linking('Links end with a fragment.', 'C4', (href) => ({ href: `${href}#items` })),
  mutant('first ends with a question mark.', 'C4', leading('first', undefined, '?')),
  linking('Links have a title beside href.', 'C4', (href, title) => ({ href, title })),
  linking('Links are texts instead of objects.', 'C4', (href) => href),
  linking('Each link stands in an array of its own.', 'C4', (href) => [{ href }]),
  linking('Links carry the size of a page.', 'C4', (href) => ({ href: withQuery(href, 'limit=500') })),
  mutant('Links repeat whatever parameters the request has.', ['C4', 'D11'], (right) => ({
    href: (page, asked) => {
      const query = new URLSearchParams(asked.query)
      query.delete('page')
      if (page !== undefined) query.set('page', String(page))
      return `${right.collectionUrl(asked)}${query.size > 0 ? '?' : ''}${query}`
    },
  })),
  linking('Links are written with leading zeros.', 'D2', (href) => ({ href: href.replace('page=', 'page=00') })),
  mutantOf({}, { isDoubt: true })('Another entry of _links is a number.', 'C9', adding({ total: 3 })),
  mutantOf({}, { isDoubt: true })('Another entry of _links is null.', 'C9', adding({ search: null })),
]

/** Links that are missing, or lead to the wrong page. */
const TARGETS: readonly Mutant[] = [
  mutantOf({ items: 1000 })(
    'The number of pages is floor(n / 500) + 1: one too many for 1000 items.',
    ['C5', 'C7', 'D4'],
    { lastPage: () => 3 },
  ),
  mutant('The link last leads to the page behind the last one.', 'C5', leading('last', 4)),
  mutant('The link last is floor(n / 500): page 2 of 3.', 'C5', leading('last', 2)),
  emptyMutant('An empty collection has page 0 as its last.', 'C5', leading('last', 0)),
  emptyMutant('An empty collection has only a self.', 'C5', { links: ({ self }) => ({ self }) }),
  mutant('prev on page 2 is the bare URL.', 'C5', sharing('prev', 'first', 2)),
  mutantOf({ items: 10 })('last of a collection with one page is the bare URL.', 'C5', sharing('last', 'first')),
  mutant('first carries a page parameter.', 'C5', leading('first', 1)),
  mutant('first ends with "?page=".', ['C5', 'C4'], leading('first', undefined, '?page=')),
  mutant('There is no link first.', 'C5', lacking('first')),
  mutant('The first page has no link first.', 'C5', lacking('first', 1)),
  mutant('There is no link last.', 'C5', lacking('last')),
  mutant('The last page has no link last.', 'C5', lacking('last', 3)),
  mutant('Page 2 of 3 has no next.', 'C5', lacking('next', 2)),
  mutant('No page has a link prev.', 'C5', lacking('prev')),
  mutant('next is null on page 2 of 3.', 'C5', sharing('next', null, 2)),
  mutantOf({ items: 2600 })('next leads two pages on.', 'C5', {
    links: (links, page, asked, right) =>
      page === 6 ? links : { ...links, next: { href: right.href(Math.min(page + 2, 6), asked) } },
  }),
  longMutant('next of page 30 of 50 leads back to itself.', 'C5', sharing('next', 'self', 30)),
  mutant('prev leads to the page on which it stands.', 'C5', {
    links: (links, page) => (page === 1 ? links : { ...links, prev: links['self'] }),
  }),
  mutant('The last page has a next, to the page behind it.', 'D4', {
    links: (links, page, asked, right) => ({ ...links, next: { href: right.href(page + 1, asked) } }),
  }),
  mutantOf({ items: 10 })('The only page has a next, to itself.', 'D4', leading('next', 1)),
  mutant('next is null on the last page.', 'D4', { links: (links) => ({ next: null, ...links }) }),
  mutant('prev is null on the first page.', 'D4', { links: (links) => ({ prev: null, ...links }) }),
  mutant('The first page has a prev, to page 0.', 'D4', {
    links: (links, page, asked, right) => ({ ...links, prev: { href: right.href(page - 1, asked) } }),
  }),
  mutant('There is no link self.', 'D7', lacking('self')),
  mutant('self of page 1 carries no number.', 'D7', sharing('self', 'first', 1)),
  mutant('self names the page that was asked for, also beyond the last one.', ['D7', 'C7'], {
    links: (links, _page, asked, right) => {
      const href = `${right.href(undefined, asked)}?page=${right.requestedPage(asked)}`
      return { ...links, self: { href } }
    },
  }),
  mutant('self is the URL of the request, with all that stands in it.', ['D7', 'C7', 'D1', 'D2', 'D11'], {
    links: (links, _page, asked, right) => {
      const query = asked.query === '' ? '' : `?${asked.query}`
      return { ...links, self: { href: right.href(undefined, asked) + query } }
    },
  }),
]

/** Links that depend on the headers of the request. */
const HEADERS: readonly Mutant[] = [
  mutant('Links begin with whatever the Host header says.', 'D17', {
    collectionUrl: (_url, { headers }) => `http://${headers.host}/events`,
  }),
  mutant('Links believe X-Forwarded-Host from anybody.', 'D17', {
    collectionUrl: (url, { headers: { 'x-forwarded-host': host } }) =>
      host === undefined ? url : `http://${host}/events`,
  }),
  mutant('Links believe X-Forwarded-Proto from anybody.', 'D17', {
    collectionUrl: (url, { headers }) => url.replace('http', String(headers['x-forwarded-proto'] ?? 'http')),
  }),
  mutant('Links believe X-Forwarded-Prefix, and the server refuses a strange Host.', 'D17', {
    answer: (answered, { headers }, { baseUrl }) =>
      headers.host === new URL(baseUrl).host ? answered : { status: 421, headers: {}, body: Buffer.alloc(0) },
    collectionUrl: (url, { headers }) => url.replace('/events', `${headers['x-forwarded-prefix'] ?? ''}/events`),
  }),
  mutant('Links believe the Forwarded header from anybody.', 'D17', {
    links: (links, _page, { headers }, { baseUrl }) => {
      const host = /host=([^;]+)/.exec(headers.forwarded ?? '')?.[1] ?? new URL(baseUrl).host
      return mapPageLinks(links, (href) => ({ href: href.replace(/\/\/[^/]+/, `//${host}`) }))
    },
  }),
]

export const LINK_MUTANTS: readonly Mutant[] = [
  ...FORM,
  ...TARGETS,
  ...HEADERS,
  mutant('Links repeat the parameter sort, which the server knows.', 'C4', {
    links: (links, _page, { query }) => {
      const sort = new URLSearchParams(query).get('sort')
      return sort === null ? links : mapPageLinks(links, (href) => ({ href: withQuery(href, `sort=${sort}`) }))
    },
  }),
]
