/** Does a late page of the changes cost more than an early one? Most are appends, one in 50 is a replace or a delete. */

import { changesPath } from '../../src/contract/link.ts'
import { counted } from '../../src/contract/message-text.ts'
import { lastPage, PAGE_SIZE } from '../../src/contract/page.ts'
import { changeAtRandom } from '../change-at-random.ts'
import { WITHOUT_CACHE } from '../child-process.ts'
import { removedAtEnd } from '../database-file.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { PageClient } from '../page-client.ts'
import type { Question } from '../question.ts'
import { COLLECTION } from '../workspace.ts'

/** For each item that is replaced or deleted. */
const APPENDS_A_CHANGE = 49

export const CHANGES_PAGES: Question = {
  name: 'changes-pages',
  needs: ['sample'],
  cost: { seconds: 30, secondsAMillion: 3 },
  async run(workspace) {
    const { signal } = workspace
    const { items } = await workspace.sample()
    const { path } = await workspace.importSampleTo('changes.db', ['--key', 'id'])
    await using _database = removedAtEnd(path)
    // As many changes as there are items; all pages are full, and all of the same mixture.
    const count = Math.floor(items / PAGE_SIZE) * PAGE_SIZE
    const changes = count / (APPENDS_A_CHANGE + 1)
    workspace.step(`changes-pages: making ${counted(count, 'change')}`)
    const history = { items, changes, appendsAChange: APPENDS_A_CHANGE, signal }
    const state = await changeAtRandom(path, COLLECTION, history)
    await using server = await workspace.serve(path, WITHOUT_CACHE)
    using client = new PageClient(server.url)
    workspace.step('changes-pages: first and last page of the changes, and a live page, in turn')
    const collection = changesPath(COLLECTION, state)
    const latencies = await compareLatencies(
      {
        first: pageOf(client, collection, 1),
        last: pageOf(client, collection, lastPage(count)),
        live: pageOf(client, COLLECTION, 1),
      },
      { requests: Math.ceil(workspace.requests / 2), signal },
    )
    const raw = { ...latencies, changes: count }
    return [
      {
        measured: 'last ÷ first page of the changes, as many as there are items, gzip, uncached, p50',
        value: latencies.last.p50Ms / latencies.first.p50Ms,
        required: { atMost: 1.15 },
        raw,
      },
      {
        measured: 'page of the changes ÷ page of the live collection',
        value: latencies.last.p50Ms / latencies.live.p50Ms,
        better: 'lower',
        raw,
      },
    ]
  },
}
