/** What do more requests in flight bring, where each takes its time? */

import { lastPage } from '../../src/contract/page.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { COLLECTION } from '../workspace.ts'

const DELAY_MS = 50
/** More would only take longer: one in flight has 400 pages to wait for. */
const MAX_ITEMS = 200_000

export const PULL_LATENCY: Question = {
  name: 'pull-latency',
  needs: ['ndjson'],
  cost: { seconds: 72, secondsAMillion: 0 },
  async run(workspace) {
    const items = Math.min(workspace.items, MAX_ITEMS)
    await using server = await workspace.serveDelayed(await workspace.storeOf(items, 'pull-latency.db'), DELAY_MS)
    workspace.step(`pull-latency: ${DELAY_MS} ms before every answer, 1 and 8 in flight, in turn`)
    const times = { 1: [] as number[], 8: [] as number[] }
    await inTurn(workspace.rounds, [1, 8] as const, async (inFlight) => {
      const { wallMs } = await workspace.pull(`${server.url}/${COLLECTION}`, inFlight)
      times[inFlight].push(wallMs)
    })
    return [
      {
        measured: `pages/s of reams pull, ${DELAY_MS} ms before every answer: 8 in flight ÷ 1 in flight`,
        value: median(times[1]) / median(times[8]),
        required: { atLeast: 6 },
        raw: { pages: lastPage(items), oneMs: times[1], eightMs: times[8] },
      },
    ]
  },
}
