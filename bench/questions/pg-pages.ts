/** How much does Reams add to the statement that reads a page from PostgreSQL? */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import { inTurn, median } from '../measure.ts'
import { askPostgres } from '../postgres/ask.ts'
import { IN_FLIGHT, roundsOf, sizeOf } from '../postgres/page-rates.ts'
import { runStatements } from '../postgres/rivals.ts'
import { requestsASecond, runLoad } from '../running-load.ts'
import { COLLECTION } from '../workspace.ts'

export const PG_PAGES = askPostgres({
  name: 'pg-pages',
  needs: ['ndjson', 'postgresItems'],
  cost: { seconds: 20, secondsAMillion: 0 },
  async run(postgres, workspace) {
    const server = await postgres.itemsServer()
    workspace.step(`pg-pages: random pages through HTTP and their statement through pg in turn, ${IN_FLIGHT} in flight`)
    const pages = Math.floor(workspace.items / PAGE_SIZE)
    const http: number[] = []
    const bare: number[] = []
    await inTurn(roundsOf(workspace), ['http', 'bare'] as const, async (side, round) => {
      const size = sizeOf(workspace, round)
      if (side === 'http') {
        const plan = { kind: 'read', url: `${server.url}/${COLLECTION}`, pages, ...size } as const
        http.push(requestsASecond(await runLoad(plan, workspace.signal)))
      } else {
        const plan = { url: postgres.url, schema: postgres.schema('items'), collection: COLLECTION, pages, ...size }
        bare.push(requestsASecond(await runStatements(plan, workspace.signal)))
      }
    })
    return [
      {
        measured: `PostgreSQL: uncached gzip pages/s through HTTP ÷ of the bare statement through pg, ${IN_FLIGHT} in flight`,
        value: median(http) / median(bare),
        required: { atLeast: 0.7 },
        raw: { pagesASecond: http, statementsASecond: bare },
      },
    ]
  },
})
