/** D1, D2 and D3: what is page 1, which numbers are allowed, and what is not a page number. */

import { statusLine } from '../http/response.ts'
import { PAGE_RELATIONS } from '../page/document.ts'
import type { Rule } from '../rule.ts'
import { probedPage } from '../shared-requests.ts'

export const D1: Rule = {
  id: 'D1',
  title: 'Pages count from 1: no page, an empty page and page=1 answer the same bytes.',
  why: 'first carries no parameter, so the bare URL is page 1. An empty parameter is what a form with an empty field sends.',
  hurts: 'a client that asks for page 1 by its number: it gets the second page, or an error.',
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
  title: 'A page number is one or more digits: leading zeros are allowed, and links are written without them.',
  why: 'The contract asks for a positive whole number, and 002 is one. C7 requires numbers of any length.',
  hurts: 'a client that pads its numbers.',
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
    if (plain.status !== 200) return check.skip(`page ${page} does not answer 200 (C1)`)
    await check.compareBytes(plain, padded, `page ${page}`)
  },
}

export const D3: Rule = {
  id: 'D3',
  title:
    'Anything that is not a page number is a 400: 0, -1, +1, 1.5, 1e3, abc, a space, other digits, page given twice.',
  why: 'Taking nonsense for page 1 hides a mistake of the client, which then reads the first page over and over.',
  hurts: 'a client with a bug: it never finds out.',
  right: 'GET /events?page=abc → 400, with the parameter and the value in the answer',
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
