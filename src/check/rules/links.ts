/** C4, C5, C9, D4, D7 and D17: the form of links, which there are, and where each leads. */

import { type HttpResponse, statusLine } from '../http/response.ts'
import { type Page, pageOf } from '../layout.ts'
import { PAGE_RELATIONS, type PageRelation } from '../page/document.ts'
import { isJsonObject, shown } from '../page/items.ts'
import type { Rule, RuleCheck } from '../rule.ts'
import {
  FAMILIAR_QUERY,
  pagesBeyond,
  probedResponse,
  responseWithUnknownParameter,
  sizeQueries,
} from '../shared-requests.ts'

export const C4: Rule = {
  id: 'C4',
  title:
    'first, prev, next and last, unless absent or null, are objects with one field, href: the collection’s own absolute URL, with at most ?page=<n>.',
  why: 'A client can follow a link as it is, from anywhere: a relative one needs a base, one to another host needs trust, and one with more parameters is another resource. Where a link may be absent or null is left to C5 and D4.',
  affects: 'a client that follows links: it ends up elsewhere, or sends its token there.',
  right: '"next": {"href": "https://api.example.com/events?page=2"}',
  wrong: '"next": {"href": "/events?page=2&limit=500"}',
  scope: 'paginated',
  see: (check, { response }) => judgeLinks(check, response),
  /** Parameters that are not in the contract must not end up in a link. */
  async probe(check) {
    judgeLinks(check, await responseWithUnknownParameter(check))
    for (const query of [...sizeQueries(check), FAMILIAR_QUERY]) judgeLinks(check, await check.collection.query(query))
  },
}

function judgeLinks(check: RuleCheck, response: HttpResponse): void {
  const { collection } = check
  if (response.status !== 200) return
  for (const relation of PAGE_RELATIONS) {
    const link = collection.link(response.document, relation)
    if (link === undefined) continue
    const others =
      link.otherFields.length === 0 ? undefined : `has other fields beside href: ${shown(link.otherFields)}`
    const flaw = link.flaw ?? others
    const expected = `${relation} is {"href": "${collection.linkUrl}${relation === 'first' ? '' : '?page=<n>'}"}`
    if (flaw !== undefined) check.broken(response, expected, `${relation} ${flaw}`)
  }
}

export const C9: Rule = {
  id: 'C9',
  title:
    '_links may have more links than first, prev, next and last; each additional one is a link object or an array of them.',
  why: 'There is room for more, such as self. The contract does not say what they look like, so anything that is not a link in HAL, such as null, only gives a warning. C4, C5 and D4 check the four page links.',
  affects: 'a client that lists all links and expects an href in each.',
  right:
    '"_links": {"first": {…}, "last": {…}, "search": {"href": "https://api.example.com/search{?q}", "templated": true}}',
  wrong: '"_links": {"first": {…}, "last": {…}, "search": null}',
  scope: 'envelope',
  onlyWarns: true,
  see(check, { response, document }) {
    const pageRelations: readonly string[] = PAGE_RELATIONS
    for (const [relation, value] of document.links) {
      if (pageRelations.includes(relation)) continue
      const links = Array.isArray(value) ? value : [value]
      if (!links.every((link) => isJsonObject(link) && typeof link['href'] === 'string'))
        check.doubt(response, `${relation} is a link or an array of links, each with an href`, shown(value))
    }
  },
}

export const C5: Rule = {
  id: 'C5',
  title:
    'first and last are on every page, prev and next wherever a page comes before or after; first has no page parameter, the others name their page.',
  why: 'A crawler follows next to the end; one that reads pages in parallel learns from last how many there are: ceil(item_count / 500), and 1 for an empty collection.',
  affects: 'every crawler: it stops too early, runs in circles or requests pages that do not exist.',
  right: 'GET /events?page=2 of 1234 items → prev …?page=1, next …?page=3, last …?page=3, first …/events',
  wrong: 'GET /events?page=2 of 1234 items → prev …/events, without its page',
  scope: 'paginated',
  see(check, { response, document, number, last }) {
    if (document.linksKind !== 'an object') return
    judgeFirst(check, response)
    judgeTarget(check, response, 'last', last)
    // The ends of the collection are D4's matter.
    if (number > 1) judgeTarget(check, response, 'prev', number - 1)
    if (last !== undefined && number < last) judgeTarget(check, response, 'next', number + 1)
  },
}

function judgeFirst(check: RuleCheck, response: HttpResponse): void {
  const link = check.collection.link(response.document, 'first')
  if (link === undefined) check.broken(response, 'a link first', absence(response, 'first'))
  else if (link.page !== undefined)
    check.broken(response, 'a link first without a page parameter', `first leads to ${link.href}`)
}

/** Null counts as absent, but the report says which of the two it is. */
function absence({ document }: HttpResponse, relation: PageRelation): string {
  return document?.links.has(relation) ? 'null' : 'none'
}

/** What is malformed is C4's matter. */
function judgeTarget(check: RuleCheck, response: HttpResponse, relation: PageRelation, target?: number): void {
  const link = check.collection.link(response.document, relation)
  const expected = `${relation} leads to page ${target}`
  if (link === undefined) check.broken(response, `a link ${relation}`, absence(response, relation))
  else if (link.href === undefined || Number.isNaN(link.page)) return
  else if (link.page === undefined) check.broken(response, `${expected}, by its number`, `${link.href}, without a page`)
  else if (target !== undefined && link.page !== target) check.broken(response, expected, `page ${link.page}`)
}

export const D4: Rule = {
  id: 'D4',
  title: 'prev is absent on the first page and next on the last: absent, never null.',
  why: 'A crawler stops where next is absent. It cannot stop at a short page, because a last page can be full, nor at an empty one, because of C7.',
  affects: 'a crawler: it never stops, or fails on null.',
  right: 'GET /events?page=3 of 3 → {"_links": {"first": {…}, "prev": {…}, "last": {…}}}',
  wrong: 'GET /events?page=3 of 3 → {"_links": {…, "next": null}}',
  scope: 'paginated',
  countsFromOne: true,
  see(check, { response, document: { links }, number, last }) {
    if (number === 1 && links.has('prev')) check.broken(response, 'no prev on the first page', shown(links.get('prev')))
    if (number === last && links.has('next'))
      check.broken(response, 'no next on the last page', shown(links.get('next')))
  },
}

export const D7: Rule = {
  id: 'D7',
  title: 'self is the URL of the page in the response, even if another one was requested.',
  why: 'It says which page this is, even if the request named none or one past the last. An echo of the request would break C7.',
  affects: 'a client that stores self as the address of what it read.',
  right: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=3"}',
  wrong: 'GET /events?page=99 of 3 pages → "self": {"href": "https://api.example.com/events?page=99"}',
  scope: 'paginated',
  countsFromOne: true,
  see: judgeSelf,
  async probe(check) {
    const { layout, collection } = check
    const [beyond] = layout.last === undefined ? [] : pagesBeyond(layout.last)
    if (layout.last === undefined || beyond === undefined) return
    const page = pageOf(await collection.page(beyond), layout.last, collection, layout)
    if (page !== undefined) judgeSelf(check, page)
  },
}

function judgeSelf(check: RuleCheck, { response, document, number }: Page): void {
  const { collection } = check
  const link = collection.link(document, 'self')
  if (document.linksKind !== 'an object' || (link?.page === number && link.flaw === undefined)) return
  const got = link === undefined ? 'no self' : (link.href ?? `it ${link.flaw}`)
  check.broken(response, `self leads to ${collection.linkUrl}?page=${number}`, got)
}

export const D17: Rule = {
  id: 'D17',
  title: 'Links start with the configured base URL: a different Host or X-Forwarded-Host changes none of them.',
  why: 'A link that repeats what a header says can be poisoned: a cache then sends the attacker’s address to everybody.',
  affects: 'everyone behind a shared cache or a proxy that passes headers on.',
  right: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://api.example.com/events?page=2"}',
  wrong: 'GET /events with Host: reams-check.invalid → "next": {"href": "https://reams-check.invalid/events?page=2"}',
  scope: 'envelope',
  async probe(check) {
    const { collection } = check
    const before = await probedResponse(check)
    const plain = before.request
    const all = await collection.send({ ...plain, headers: { Host: UNKNOWN_HOST, ...FORWARDED } })
    // A server that refuses an unknown Host sends no poisoned link, but it may still trust the headers of a proxy.
    const response = all.status === 200 ? all : await collection.send({ ...plain, headers: FORWARDED })
    if (response.status === 200) judgeHosts(check, before, response)
    else if (response.status === 0)
      check.skip(`no response to a request with X-Forwarded-Host: ${statusLine(response)}`)
  },
}

const UNKNOWN_HOST = 'reams-check.invalid'

const FORWARDED = {
  'X-Forwarded-Host': UNKNOWN_HOST,
  'X-Forwarded-Proto': 'ftp',
  'X-Forwarded-Port': '81',
  'X-Forwarded-Prefix': '/reams-check',
  Forwarded: `host=${UNKNOWN_HOST};proto=ftp`,
}

function judgeHosts(check: RuleCheck, plain: HttpResponse, response: HttpResponse): void {
  for (const [relation, link] of response.document?.links ?? []) {
    const before = plain.document?.links.get(relation)
    const [expected, got] = [shown(before), shown(link)]
    const isPageLink = [...PAGE_RELATIONS, 'self'].includes(relation)
    // Other links may change as they like.
    if (got.includes(UNKNOWN_HOST) || (isPageLink && before !== undefined && targetOf(expected) !== targetOf(got)))
      check.broken(response, `${relation} ${expected}, as without these headers`, `${relation} ${got}`)
  }
}

/** Numbers of pages move with the data, and a server on loopback may choose among the names of loopback. */
function targetOf(link: string): string {
  return link.replace(/\?page=[0-9]+/, '').replace(/\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/])/, '//loopback')
}
