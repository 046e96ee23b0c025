/** Does a late page cost more than an early one, where the store is in PostgreSQL? */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import { askPostgres } from '../postgres/ask.ts'
import { COLLECTION, COLLECTION_WITH_TAIL, LAST_PAGE_WITH_TAIL } from '../workspace.ts'

export const PG_DEPTH = askPostgres({
  name: 'pg-depth',
  needs: ['ndjson', 'postgresItems'],
  cost: { seconds: 9, secondsAMillion: 0 },
  async run(postgres, workspace) {
    const server = await postgres.itemsServer()
    await using smallServer = await postgres.serve(await postgres.itemsWithTail(), WITHOUT_CACHE)
    using client = new PageClient(server.url)
    using smallClient = new PageClient(smallServer.url)
    workspace.step('pg-depth: first and last full page in turn')
    const lastFullPage = Math.floor(workspace.items / PAGE_SIZE)
    const full = await compareLatencies(
      { first: pageOf(client, COLLECTION, 1), last: pageOf(client, COLLECTION, lastFullPage) },
      workspace,
    )
    workspace.step('pg-depth: first page and a last page that is half full in turn')
    const tail = await compareLatencies(
      {
        first: pageOf(smallClient, COLLECTION_WITH_TAIL, 1),
        last: pageOf(smallClient, COLLECTION_WITH_TAIL, LAST_PAGE_WITH_TAIL),
      },
      { requests: Math.ceil(workspace.requests / 4), signal: workspace.signal },
    )
    return [
      {
        measured: 'PostgreSQL: last full page ÷ first page, gzip through HTTP, uncached, p50',
        value: full.last.p50Ms / full.first.p50Ms,
        required: { atMost: 1.15 },
        raw: full,
      },
      {
        measured: 'the same, last page with 300 items, 50 of them in the tail',
        value: tail.last.p50Ms / tail.first.p50Ms,
        better: 'lower',
        raw: tail,
      },
    ]
  },
})
