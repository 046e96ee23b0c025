/** C7: beyond the last page. */

import { type HttpResponse, statusLine } from '../http/response.ts'
import type { DifferenceOf, Rule, RuleCheck } from '../rule.ts'
import { pagesBeyond } from '../shared-requests.ts'

export const C7: Rule = {
  id: 'C7',
  title: 'A page beyond the last one is answered exactly like the last one: same status, same bytes, same ETag.',
  why: 'A collection can shrink between two requests. A client that asks for a page that is gone gets the last one, whatever the number, and a cache can keep one copy for all of them.',
  hurts:
    'a client that asks for a page that has just gone, or for the last one by a large number: an error, a wrong page or an endless crawl.',
  right: 'GET /events?page=9007199254740993 of 1234 items → byte for byte what /events?page=3 answers',
  wrong: 'GET /events?page=4 of 1234 items → 404, an empty page, or page 1',
  scope: 'paginated',
  countsFromOne: true,
  needsStillness: true,
  async probe(check) {
    const { collection, layout } = check
    if (layout.last === undefined) return check.skip('it is not known which page is the last one (C2, C5)')
    const last = await collection.page(layout.last)
    if (last.status !== 200) return check.skip(`page ${layout.last}, the last one, does not answer 200 (C1)`)
    const responses = await Promise.all(pagesBeyond(layout.last).map((page) => collection.page(page)))
    for (const response of responses) await judge(check, layout.last, last, response)
  },
}

async function judge(check: RuleCheck, page: number, last: HttpResponse, beyond: HttpResponse): Promise<void> {
  // Changed data do not explain another status.
  if (beyond.status !== last.status)
    return check.broken(beyond, `as page ${page}: ${statusLine(last)}`, statusLine(beyond))
  const differenceOf: DifferenceOf = (before, after) => {
    const pair = whatDiffers(before, after)
    return pair && { expected: `as page ${page}: ${pair[0]}`, came: pair[1] }
  }
  await check.compare(last, beyond, differenceOf)
}

/** What is expected and what came; undefined if there is no difference. */
function whatDiffers(last: HttpResponse, beyond: HttpResponse): [expected: string, came: string] | undefined {
  if (beyond.status !== last.status) return [statusLine(last), statusLine(beyond)]
  if (beyond.digest !== last.digest) return [contentsOf(last), contentsOf(beyond)]
  for (const name of ['ETag', 'Last-Modified', 'Content-Type', 'Cache-Control']) {
    const [before, after] = [last.headers.get(name), beyond.headers.get(name)]
    if (before !== after) return [`${name}: ${before ?? 'none'}`, `${name}: ${after ?? 'none'}`]
  }
  return undefined
}

function contentsOf({ byteLength, document, beginning }: HttpResponse): string {
  const self = document?.links.get('self')
  const items = `${document?.items?.count} items${self === undefined ? '' : ` and self ${JSON.stringify(self)}`}`
  return `${byteLength} bytes with ${document?.items === undefined ? beginning : items}`
}
