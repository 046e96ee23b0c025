/** What does one gain over COUNT(*) and OFFSET in PostgreSQL, as one writes them by hand? */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { median } from '../measure.ts'
import { FULL_ITEMS } from '../options.ts'
import { PageClient } from '../page-client.ts'
import { askPostgres } from '../postgres/ask.ts'
import { pagesByHand } from '../postgres/pages-by-hand.ts'
import type { Figure } from '../question.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

export const PG_OFFSET = askPostgres({
  name: 'pg-offset',
  needs: ['ndjson', 'postgresItems', 'postgresRows'],
  cost: { seconds: 3, secondsAMillion: 3 },
  async run(postgres, workspace) {
    const [pageByHand, lastPage] = [
      await pagesByHand(postgres, await postgres.rows(), 'json'),
      Math.floor(workspace.items / PAGE_SIZE),
    ]
    const server = await postgres.itemsServer()
    using client = new PageClient(server.url)
    workspace.step('pg-offset: first and last page of Reams')
    const { first, last } = await compareLatencies(
      { first: pageOf(client, COLLECTION, 1), last: pageOf(client, COLLECTION, lastPage) },
      { requests: Math.ceil(workspace.requests / 4), signal: workspace.signal },
    )
    workspace.step('pg-offset: first and last page with COUNT(*) and OFFSET')
    const byHand = { first: await pageByHand(1), last: await pageByHand(lastPage) }
    return [
      figure('first', byHand.first, first.p50Ms, 100, workspace),
      figure('last', byHand.last, last.p50Ms, 500, workspace),
    ]
  },
})

function figure(which: string, byHandMs: number[], p50Ms: number, times: number, { items }: Workspace): Figure {
  return {
    measured: `PostgreSQL: ${which} page with COUNT(*) and OFFSET through pg ÷ ours, gzip through HTTP, uncached, p50`,
    value: median(byHandMs) / p50Ms,
    better: 'higher',
    ...(items >= FULL_ITEMS && { required: { atLeast: times } }),
    raw: { byHandMs, p50Ms },
  }
}
