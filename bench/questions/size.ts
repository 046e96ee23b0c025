/** Does a page of a large collection cost more than one of a small collection? */

import { formatCount } from '../../src/contract/message-text.ts'
import { lastPage } from '../../src/contract/page.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { compareLatencies } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { randomPaths } from '../random-paths.ts'
import { SMALL_ITEMS } from '../workspace.ts'

export const SIZE: Question = {
  name: 'size',
  needs: ['ndjson', 'store', 'smallStore'],
  cost: { seconds: 4, secondsAMillion: 0 },
  async run(workspace) {
    const { items, requests } = workspace
    await using largeServer = await workspace.serve((await workspace.store()).path, WITHOUT_CACHE)
    await using smallServer = await workspace.serve((await workspace.smallStore()).path, WITHOUT_CACHE)
    using largeClient = new PageClient(largeServer.url)
    using smallClient = new PageClient(smallServer.url)
    workspace.step('size: random pages of the large and the small collection in turn')
    const { large, small } = await compareLatencies(
      {
        large: { client: largeClient, encoding: 'gzip', paths: randomPaths(requests, workspace.lastPage) },
        small: { client: smallClient, encoding: 'gzip', paths: randomPaths(requests, lastPage(SMALL_ITEMS)) },
      },
      workspace,
    )
    return [
      {
        measured: `random page of ${formatCount(items)} items ÷ of ${formatCount(SMALL_ITEMS)}, gzip through HTTP, uncached, p50`,
        value: large.p50Ms / small.p50Ms,
        required: { atMost: 1.2 },
        raw: { large, small },
      },
    ]
  },
}
