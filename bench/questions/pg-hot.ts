/** What does a page gain that is still in memory? The head is read for each answer all the same. */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { inTurn, median } from '../measure.ts'
import { askPostgres } from '../postgres/ask.ts'
import { IN_FLIGHT, roundsOf, sizeOf } from '../postgres/page-rates.ts'
import { requestsASecond, runLoad } from '../running-load.ts'
import { COLLECTION } from '../workspace.ts'

/** So many are asked for, in random order: few enough for the memory of the server. */
const HOT_PAGES = 50

export const PG_HOT = askPostgres({
  name: 'pg-hot',
  needs: ['ndjson', 'postgresItems'],
  cost: { seconds: 20, secondsAMillion: 0 },
  async run(postgres, workspace) {
    await using cachingServer = await postgres.serve((await postgres.items()).path)
    const server = await postgres.itemsServer()
    const pages = Math.min(HOT_PAGES, Math.floor(workspace.items / PAGE_SIZE))
    workspace.step(`pg-hot: the same ${pages} pages from memory and from the database in turn, ${IN_FLIGHT} in flight`)
    const hot = { url: `${cachingServer.url}/${COLLECTION}`, rates: [] as number[] }
    const uncached = { url: `${server.url}/${COLLECTION}`, rates: [] as number[] }
    await inTurn(roundsOf(workspace), [hot, uncached], async ({ url, rates }, round) => {
      const plan = { kind: 'read', url, pages, ...sizeOf(workspace, round) } as const
      rates.push(requestsASecond(await runLoad(plan, workspace.signal)))
    })
    return [
      {
        measured: `PostgreSQL: pages/s from memory, each checked against its head ÷ uncached, gzip, ${IN_FLIGHT} in flight`,
        value: median(hot.rates) / median(uncached.rates),
        required: { atLeast: 1.3 },
        raw: { hotPagesASecond: hot.rates, uncachedPagesASecond: uncached.rates, pages },
      },
    ]
  },
})
