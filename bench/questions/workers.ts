/** What do two processes on two cores bring, beside a load generator on the same machine? */

import type { Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION } from '../workspace.ts'

export const WORKERS: Question = {
  name: 'workers',
  needs: ['ndjson', 'store'],
  cost: { seconds: 28, secondsAMillion: 0.2 },
  async run(workspace) {
    const { path } = await workspace.store()
    await using one = await workspace.serve(path)
    await using two = await workspace.serve(path, ['--workers', '2'])
    workspace.step('workers: one process and two in turn')
    const plan = { headers: { 'Accept-Encoding': 'gzip' }, pages: workspace.lastPage }
    const rates = await compareRates(workspace, {
      one: { ...plan, url: `${one.url}/${COLLECTION}` },
      two: { ...plan, url: `${two.url}/${COLLECTION}` },
    })
    return [
      {
        measured: 'random pages, gzip: requests/s of two workers ÷ of one',
        value: rates.two.requestsASecond / rates.one.requestsASecond,
        better: 'higher',
        raw: { ...rates, tool: LOAD_TOOL },
        note: 'The load comes from the same machine, and takes its share of the cores.',
      },
    ]
  },
}
