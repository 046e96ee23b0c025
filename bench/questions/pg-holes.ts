/** What do deleted items cost the reader, where the store is in PostgreSQL? */

import { lastPage } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import { askPostgres } from '../postgres/ask.ts'
import { randomPaths } from '../random-paths.ts'

export const PG_HOLES = askPostgres({
  name: 'pg-holes',
  needs: ['ndjson', 'postgresItems', 'postgresHoles'],
  cost: { seconds: 14, secondsAMillion: 8 },
  async run(postgres, workspace) {
    const requests = Math.ceil(workspace.requests / 2)
    const { path, deletes, deleteMs } = await postgres.itemsWithHoles()
    const wholeServer = await postgres.itemsServer()
    await using holeyServer = await postgres.serve(path, WITHOUT_CACHE)
    using whole = new PageClient(wholeServer.url)
    using holey = new PageClient(holeyServer.url)
    const paths = randomPaths(requests, lastPage(workspace.items - deletes))
    workspace.step('pg-holes: random pages with and without holes in turn')
    const { wholeGzip, holeyGzip, wholePlain, holeyPlain } = await compareLatencies(
      {
        wholeGzip: { client: whole, encoding: 'gzip', paths },
        holeyGzip: { client: holey, encoding: 'gzip', paths },
        wholePlain: { client: whole, encoding: 'identity', paths },
        holeyPlain: { client: holey, encoding: 'identity', paths },
      },
      { requests, signal: workspace.signal },
    )
    const holes = { deletes, deleteMs }
    return [
      {
        measured: 'PostgreSQL: random page with 1 % of items deleted ÷ without, gzip, uncached, p50',
        value: holeyGzip.p50Ms / wholeGzip.p50Ms,
        required: { atMost: 1.5 },
        raw: { withHoles: holeyGzip, without: wholeGzip, ...holes },
      },
      {
        measured: 'the same, plain',
        value: holeyPlain.p50Ms / wholePlain.p50Ms,
        required: { atMost: 4 },
        raw: { withHoles: holeyPlain, without: wholePlain, ...holes },
      },
    ]
  },
})
