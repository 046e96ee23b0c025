/** Reads pages for those rules that look at each of them: a sample, or all. */

import type { Collection } from './collection.ts'
import { LimitReached } from './http/requester.ts'
import type { HttpResponse } from './http/response.ts'
import { type Layout, samplePages } from './layout.ts'

/** The bare response, then the sampled pages, if there are any, in ascending order, each with the number that was requested. */
export async function* readSample(collection: Collection, layout: Layout): AsyncGenerator<[HttpResponse, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const pages = samplePages(layout.last ?? 1)
  const responses = await Promise.all(pages.map((page) => collection.page(page)))
  for (const [index, response] of responses.entries()) yield [response, pages[index] ?? 1]
}

/** A walk ends after this many pages without a response: the others would take as long. */
const MAX_UNANSWERED = 5

/** The bare response, then every page, in ascending order, with `concurrency` of them under way. */
export async function* readAll(
  collection: Collection,
  layout: Layout,
  concurrency: number,
): AsyncGenerator<[HttpResponse, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const last = layout.last ?? 1
  const underWay: Promise<HttpResponse>[] = []
  let next = 1
  let unanswered = 0
  for (let page = 1; page <= last; page++) {
    while (next <= last && underWay.length < concurrency) {
      const response = collection.sendUnrecorded(collection.pageRequest(next++))
      // It is awaited in its turn; until then a failure must not count as unhandled.
      response.catch(() => {})
      underWay.push(response)
    }
    const response = await underWay.shift()
    if (response === undefined) return
    yield [response, page]
    unanswered = response.status === 0 ? unanswered + 1 : 0
    if (unanswered === MAX_UNANSWERED) throw new LimitReached(`${unanswered} pages in a row had no answer`)
  }
}
