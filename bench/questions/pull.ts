/** How fast does a collection come home, next to a bare loop that keeps nothing of it? */

import { formatCount } from '../../src/contract/message-text.ts'
import { lastPage } from '../../src/contract/page.ts'
import { FETCH_LOOP, runProgram } from '../child-process.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { COLLECTION } from '../workspace.ts'

const LEAST = { 1: 0.6, 4: 0.8 } as const

export const PULL: Question = {
  name: 'pull',
  needs: ['sample'],
  cost: { seconds: 8, secondsAMillion: 0 },
  async run(workspace) {
    const { items } = await workspace.sample()
    await using _database = removedAtEnd(workspace.path('pull.db'))
    const { path } = await workspace.importSampleTo('pull.db')
    await using server = await workspace.serve(path)
    workspace.step(`pull: ${formatCount(items)} items to a file, and a bare loop of fetch, in turn`)
    const url = `${server.url}/${COLLECTION}`
    const times = { loop: [] as number[], 1: [] as number[], 4: [] as number[] }
    await inTurn(workspace.rounds, ['loop', 1, 4] as const, async (side) => {
      const run =
        side === 'loop'
          ? runProgram(FETCH_LOOP, [url, String(lastPage(items))], workspace.signal)
          : workspace.pull(url, side)
      times[side].push((await run).wallMs)
    })
    return ([1, 4] as const).map((inFlight) => ({
      measured: `bytes/s of reams pull, ${inFlight} in flight, to a file ÷ of a bare loop of fetch, one in flight`,
      value: median(times.loop) / median(times[inFlight]),
      required: { atLeast: LEAST[inFlight] },
      raw: { items, pullMs: times[inFlight], loopMs: times.loop },
    }))
  },
}
