/** C6, C7, D1, D2, D3, D8 and D11: which page a request gets, and that it gets the same one every time. */

import { type HttpResponse, statusLine } from '../http/response.ts'
import type { Page } from '../layout.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import { changeBetween } from '../page/items.ts'
import { PageMemory } from '../page/repeats.ts'
import type { DifferenceOf, Rule, RuleCheck } from '../rule.ts'
import {
  pagesBeyond,
  probedPage,
  probedResponse,
  responseWithUnknownParameter,
  UNKNOWN_PARAMETER,
} from '../shared-requests.ts'

export const C6: Rule = {
  id: 'C6',
  title: 'The parameter page selects the page: a request for page 2 returns page 2.',
  why: 'Because pages have numbers, a client can read them in any order, many at a time, or only the last one.',
  affects: 'anyone who requests a page and gets another one, without any sign of it.',
  right: 'GET /events?page=2 → the items 501 to 1000',
  wrong: 'GET /events?page=2 → the items 1 to 500',
  scope: 'paginated',
  countsFromOne: true,
  watch: (check) => {
    const memory = new PageMemory()
    return { see: (page) => judgePage(check, memory, page) }
  },
}

function judgePage(check: RuleCheck, memory: PageMemory, { response, document, requested, number, last }: Page): void {
  // If items were removed meanwhile, the page may be beyond the last one by its own count, which then stands in (C7).
  const expected = Math.min(requested, last ?? requested)
  if (number !== expected) check.broken(response, `page ${expected}`, `its links are those of page ${number}`)
  const { items } = document
  const earlier = items === undefined || expected !== requested ? undefined : memory.earlier(requested, items)
  if (items !== undefined && earlier !== undefined)
    check.differs(response, `other items than on page ${earlier}`, `the same ${items.count} items`)
}

export const D11: Rule = {
  id: 'D11',
  title: 'Query parameters other than page are ignored, and never appear in links.',
  why: 'Trackers and caches add parameters of their own. If a response repeats them, every cache stores one copy for each variant.',
  affects: 'a client whose proxy or tracker adds parameters.',
  right: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → the bytes of /events?page=2`,
  wrong: `GET /events?page=2&${UNKNOWN_PARAMETER}=1 → "next": {"href": "…/events?page=3&${UNKNOWN_PARAMETER}=1"}`,
  scope: '200',
  async probe(check) {
    const plain = await probedResponse(check)
    const response = await responseWithUnknownParameter(check)
    if (plain.status !== 200) return check.skip('the page without the parameter does not return 200 (C1)')
    await check.compareBytes(plain, response, 'the page without it')
  },
}

export const C7: Rule = {
  id: 'C7',
  title: 'A request for a page past the last one returns exactly the last one: same status, same bytes, same ETag.',
  why: 'A collection can shrink between two requests. A client that requests a page that no longer exists gets the last one, whatever the number.',
  affects:
    'a client that requests a page that has just disappeared, or the last one by a large number: it gets an error or a wrong page, or never stops.',
  right: 'GET /events?page=9007199254740993 of 1234 items → byte for byte what /events?page=3 returns',
  wrong: 'GET /events?page=4 of 1234 items → 404, an empty page, or page 1',
  scope: 'paginated',
  countsFromOne: true,
  needsStillness: true,
  async probe(check) {
    const { collection, layout } = check
    if (layout.last === undefined) return check.skip('it is not clear which page is the last one (C2, C5)')
    const last = await collection.page(layout.last)
    if (last.status !== 200) return check.skip(`page ${layout.last}, the last one, does not return 200 (C1)`)
    const responses = await Promise.all(pagesBeyond(layout.last).map((page) => collection.page(page)))
    for (const response of responses) await judgeBeyond(check, layout.last, last, response)
  },
}

async function judgeBeyond(check: RuleCheck, page: number, last: HttpResponse, beyond: HttpResponse): Promise<void> {
  // Changed data do not explain another status.
  if (beyond.status !== last.status)
    return check.broken(beyond, `as page ${page}: ${statusLine(last)}`, statusLine(beyond))
  const differenceOf: DifferenceOf = (before, after) => {
    const pair = whatDiffersBeyond(before, after)
    return pair && { expected: `as page ${page}: ${pair[0]}`, got: pair[1] }
  }
  await check.compare(last, beyond, differenceOf)
}

/** Undefined if there is no difference. */
function whatDiffersBeyond(last: HttpResponse, beyond: HttpResponse): [expected: string, got: string] | undefined {
  if (beyond.status !== last.status) return [statusLine(last), statusLine(beyond)]
  if (beyond.digest !== last.digest) return [contentsOf(last), contentsOf(beyond)]
  for (const name of ['ETag', 'Last-Modified', 'Content-Type', 'Cache-Control']) {
    const [before, after] = [last.headers.get(name), beyond.headers.get(name)]
    if (withoutAge(before) !== withoutAge(after)) return [`${name}: ${before ?? 'none'}`, `${name}: ${after ?? 'none'}`]
  }
  return undefined
}

/** Seconds until a snapshot ends count down, and one may pass between two requests. */
function withoutAge(header: string | null): string | undefined {
  return header?.replace(/max-age=\d+/, 'max-age')
}

function contentsOf({ byteLength, document, beginning }: HttpResponse): string {
  const self = document?.links.get('self')
  const items = `${document?.items?.count} items${self === undefined ? '' : ` and self ${JSON.stringify(self)}`}`
  return `${byteLength} bytes with ${document?.items === undefined ? beginning : items}`
}

export const D1: Rule = {
  id: 'D1',
  title: 'Pages count from 1: no page, an empty page and page=1 return the same bytes.',
  why: 'first carries no parameter, so the bare URL is page 1. An empty parameter is what a form with an empty field sends.',
  affects: 'a client that requests page 1 by its number: it gets the second page, or an error.',
  right: 'GET /events, /events?page= and /events?page=1 → the same bytes',
  wrong: 'GET /events?page=1 → the items 501 to 1000, because pages count from 0',
  scope: 'paginated',
  async probe(check) {
    for (const query of ['page=1', 'page='])
      await check.compareBytes(check.layout.bare, await check.collection.query(query), 'the bare URL')
  },
}

export const D2: Rule = {
  id: 'D2',
  title: 'A page number is one or more digits: leading zeros are allowed, and links have none.',
  why: 'The contract asks for a positive whole number, and 002 is one. C7 requires numbers of any length.',
  affects: 'a client that pads page numbers with zeros.',
  right: 'GET /events?page=002 → the bytes of /events?page=2',
  wrong: 'GET /events?page=002 → 400',
  scope: 'paginated',
  see(check, { response, document }) {
    for (const relation of [...PAGE_RELATIONS, 'self']) {
      const href = check.collection.link(document, relation)?.href
      if (href !== undefined && /[?&]page=0[0-9]/.test(href))
        check.broken(response, `${relation} without leading zeros`, href)
    }
  },
  async probe(check) {
    const page = probedPage(check)
    const [plain, padded] = await Promise.all([check.collection.page(page), check.collection.query(`page=00${page}`)])
    if (plain.status !== 200) return check.skip(`page ${page} does not return 200 (C1)`)
    await check.compareBytes(plain, padded, `page ${page}`)
  },
}

export const D3: Rule = {
  id: 'D3',
  title: 'Any other value of page gets 400: 0, -1, +1, 1.5, 1e3, abc, a space, non-ASCII digits, page given twice.',
  why: 'Taking nonsense for page 1 hides a bug in the client, which then reads the first page over and over.',
  affects: 'a client with a bug: it never finds out.',
  right: 'GET /events?page=abc → 400, with the parameter and the value in the response',
  wrong: 'GET /events?page=abc → 200 with page 1',
  scope: 'paginated',
  async probe(check) {
    const responses = await Promise.all(INVALID_PAGES.map((value) => check.collection.query(`page=${value}`)))
    for (const response of responses)
      if (response.status !== 400) check.broken(response, '400 Bad Request', statusLine(response))
  },
}

/** As they stand in a query. */
const INVALID_PAGES = ['0', '00', '-1', '%2B1', '1.5', '1e3', 'abc', '%201', '%D9%A1', '1&page=2']

export const D8: Rule = {
  id: 'D8',
  title: 'The order is fixed: a page that is read again has the same items in the same order.',
  why: 'Without a total order, items move between pages from one request to the next, and a client misses some and gets others twice.',
  affects: 'anyone who reads more than one page: an item of page 2 may have moved to page 1.',
  right: 'GET /events?page=2, twice → the same items in the same order',
  wrong: 'GET /events?page=2, twice → sorted by a date that many items share, each time in another order',
  scope: 'envelope',
  needsStillness: true,
  review: judgeReadings,
}

/** Some pages are read twice in every run. */
function judgeReadings(check: RuleCheck, responses: readonly HttpResponse[]): void {
  const before = new Map<string, HttpResponse>()
  for (const response of responses) {
    const key = JSON.stringify(response.request)
    const [those, these] = [before.get(key)?.document?.items, response.document?.items]
    const change = those === undefined || these === undefined ? undefined : changeBetween(those, these)
    const expected = 'the same items in the same order, when read again'
    if (change === 'reordered') check.broken(response, expected, 'the same items in another order')
    else if (change === 'moved') check.differs(response, expected, 'items in other places')
    before.set(key, response)
  }
}
