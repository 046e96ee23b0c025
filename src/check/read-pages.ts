/** Reads pages for those rules that look at each of them: a sample, or all. */

import type { Collection } from './collection.ts'
import { LimitReached } from './http/requester.ts'
import type { HttpResponse } from './http/response.ts'
import { type Layout, samplePages } from './layout.ts'

/** A walk ends after this many pages without a response: the others would take as long. */
const MAX_UNANSWERED = 5

/** The bare response, then pages in ascending order, with `concurrency` of them under way; each with its requested number. */
export async function* readPages(
  collection: Collection,
  layout: Layout,
  isWalk: boolean,
  concurrency: number,
): AsyncGenerator<[HttpResponse, number]> {
  yield [layout.bare, 1]
  if (layout.kind !== 'paginated') return
  const last = layout.last ?? 1
  const sample = isWalk ? undefined : samplePages(last)
  const pageAt = (index: number) => (sample === undefined ? index + 1 : (sample[index] ?? 1))
  const count = sample?.length ?? last
  const underWay: Promise<HttpResponse>[] = []
  let sent = 0
  let unanswered = 0
  for (let index = 0; index < count; index++) {
    while (sent < count && underWay.length < concurrency) {
      const page = pageAt(sent++)
      // The responses of a walk are too many to keep.
      const response = isWalk ? collection.sendUnrecorded(collection.pageRequest(page)) : collection.page(page)
      // It is awaited in its turn; until then a failure must not count as unhandled.
      response.catch(() => {})
      underWay.push(response)
    }
    const response = await underWay.shift()
    if (response === undefined) return
    yield [response, pageAt(index)]
    unanswered = response.status === 0 ? unanswered + 1 : 0
    if (unanswered === MAX_UNANSWERED) throw new LimitReached(`${unanswered} pages in a row had no answer`)
  }
}
