/** Does a late page cost more than an early one? */

import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { COLLECTION, COLLECTION_WITH_TAIL, LAST_PAGE_WITH_TAIL } from '../workspace.ts'

export const DEPTH: Question = {
  name: 'depth',
  needs: ['ndjson', 'store', 'smallStore'],
  cost: { seconds: 6, secondsAMillion: 0 },
  async run(workspace) {
    await using server = await workspace.serve((await workspace.store()).path, WITHOUT_CACHE)
    await using smallServer = await workspace.serve((await workspace.smallStore()).path, WITHOUT_CACHE)
    using client = new PageClient(server.url)
    using smallClient = new PageClient(smallServer.url)
    workspace.step('depth: first and last page in turn')
    const full = await compareLatencies(
      { first: pageOf(client, COLLECTION, 1), last: pageOf(client, COLLECTION, workspace.lastPage) },
      workspace,
    )
    workspace.step('depth: first page and a last page that is half full in turn')
    const tail = await compareLatencies(
      {
        first: pageOf(smallClient, COLLECTION_WITH_TAIL, 1),
        last: pageOf(smallClient, COLLECTION_WITH_TAIL, LAST_PAGE_WITH_TAIL),
      },
      { requests: Math.ceil(workspace.requests / 4), signal: workspace.signal },
    )
    return [
      {
        measured: 'last page ÷ first page, gzip through HTTP, uncached, p50',
        value: full.last.p50Ms / full.first.p50Ms,
        required: { atMost: 1.1 },
        raw: full,
      },
      {
        measured: 'last page with 300 items, 50 of them in the tail ÷ first page',
        value: tail.last.p50Ms / tail.first.p50Ms,
        required: { atMost: 1.3 },
        raw: tail,
      },
    ]
  },
}
