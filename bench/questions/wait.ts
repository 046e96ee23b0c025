/** How long does it take from a write until those who wait for it have the page? */

import { setTimeout as sleep } from 'node:timers/promises'
import { lastPage } from '../../src/contract/page.ts'
import { allowWrites } from '../allow-writes.ts'
import { eventTexts } from '../data.ts'
import { removedAtEnd } from '../database-file.ts'
import { percentile } from '../measure.ts'
import { PostClient } from '../post-client.ts'
import type { Question } from '../question.ts'
import { createRandom } from '../random.ts'
import { WaitingClients } from '../waiting-clients.ts'
import { COLLECTION, SMALL_ITEMS } from '../workspace.ts'

const CLIENTS = 100
/** The last page is nearly empty, and has room for all that is written. */
const ITEMS = SMALL_ITEMS + 1
const MAX_WRITES = 200
/** From when all have asked to the write: by then they wait, and the server looks at the store at any time of its interval. */
const PAUSE_MS = { least: 30, more: 30 } as const

export const WAIT: Question = {
  name: 'wait',
  needs: [],
  cost: { seconds: 24, secondsAMillion: 0 },
  async run(workspace) {
    const path = await workspace.storeOf(ITEMS, 'waited-for.db')
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    using writer = new PostClient(server.url, token)
    using clients = new WaitingClients(`${server.url}/${COLLECTION}?page=${lastPage(ITEMS)}`, CLIENTS)
    const writes = Math.min(MAX_WRITES, Math.ceil(workspace.requests / 10))
    // As long as the compiler of the server is not done, all wait for that.
    const warmUp = Math.ceil(writes / 2)
    workspace.step(`wait: ${CLIENTS} clients that wait for each of ${writes} writes`)
    const random = createRandom(8)
    const items = eventTexts(warmUp + writes).map((text) => JSON.parse(text))
    await clients.ask()
    const delaysMs: number[] = []
    for (const [index, item] of items.entries()) {
      workspace.signal.throwIfAborted()
      const answers = clients.ask()
      await sleep(PAUSE_MS.least + random(PAUSE_MS.more))
      const { status } = await writer.post(COLLECTION, item)
      const acknowledgedAt = performance.now()
      if (status !== 201) throw new Error(`A write was answered ${status}.`)
      const answeredAt = await answers
      if (index >= warmUp) delaysMs.push(...answeredAt.map((at) => at - acknowledgedAt))
    }
    const raw = { clients: CLIENTS, writes, p50Ms: percentile(delaysMs, 50), p99Ms: percentile(delaysMs, 99) }
    return [
      {
        measured: `from the acknowledged write to the answer of each of ${CLIENTS} clients that wait, p50`,
        value: raw.p50Ms,
        unit: 'ms',
        required: { atMost: 20 },
        raw,
      },
      { measured: 'the same, p99', value: raw.p99Ms, unit: 'ms', better: 'lower', raw },
    ]
  },
}
