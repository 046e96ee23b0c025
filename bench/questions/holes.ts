/** What do deleted items cost the reader? Every page is then cut from two reams, and its two edges are deflated anew. */

import { lastPage } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { comparePageCosts } from '../holey-pages.ts'
import { compareLatencies } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'

export const HOLES: Question = {
  name: 'holes',
  needs: ['ndjson', 'store', 'keyedStore', 'storeWithHoles'],
  cost: { seconds: 7, secondsAMillion: 0 },
  async run(workspace) {
    const { items, signal } = workspace
    const requests = Math.ceil(workspace.requests / 2)
    const { path, deletes, deleteMs } = await workspace.storeWithHoles()
    const { path: wholePath } = await workspace.store()
    workspace.step('holes: random pages with and without holes, without HTTP, in turn')
    const { rounds } = workspace
    const costs = await comparePageCosts(
      { whole: wholePath, holey: path },
      { rounds, budgetMs: Math.max(300, requests / 5) },
    )
    await using wholeServer = await workspace.serve(wholePath, WITHOUT_CACHE)
    await using holeyServer = await workspace.serve(path, WITHOUT_CACHE)
    using whole = new PageClient(wholeServer.url)
    using holey = new PageClient(holeyServer.url)
    const paths = randomPaths(requests, lastPage(items - deletes))
    workspace.step('holes: random pages with and without holes in turn')
    const latencies = await compareLatencies(
      {
        wholeGzip: { client: whole, encoding: 'gzip', paths },
        holeyGzip: { client: holey, encoding: 'gzip', paths },
        wholePlain: { client: whole, encoding: 'identity', paths },
        holeyPlain: { client: holey, encoding: 'identity', paths },
      },
      { requests, signal },
    )
    const { wholeGzip, holeyGzip, wholePlain, holeyPlain } = latencies
    const holes = { deletes, deleteMs }
    return [
      {
        measured: 'random page with 1 % of items deleted ÷ without, gzip through HTTP, uncached, p50',
        value: holeyGzip.p50Ms / wholeGzip.p50Ms,
        required: { atMost: 1.5 },
        raw: { withHoles: holeyGzip, without: wholeGzip, ...holes },
      },
      {
        measured: 'the same, without HTTP: time of a core for a page',
        value: costs.holey.gzip / costs.whole.gzip,
        required: { atMost: 5 },
        raw: { msAPage: costs },
      },
      {
        measured: 'the same through HTTP, plain',
        value: holeyPlain.p50Ms / wholePlain.p50Ms,
        required: { atMost: 2.5 },
        raw: { withHoles: holeyPlain, without: wholePlain, ...holes },
      },
    ]
  },
}
