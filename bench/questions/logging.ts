/** What does a line in the log for every request cost, of a page that is asked for again and again? */

import { loggingTo } from '../child-process.ts'
import type { Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION } from '../workspace.ts'

export const LOGGING: Question = {
  name: 'logging',
  needs: ['sample'],
  cost: { seconds: 28, secondsAMillion: 0 },
  async run(workspace) {
    const path = await workspace.storeOf(Math.min(workspace.items, 100_000), 'logging.db')
    await using without = await workspace.serve(path)
    await using logging = await workspace.serve(path, ['--log-requests', 'all'], loggingTo(workspace.path('log')))
    workspace.step('logging: with a log of all requests and without one in turn')
    const headers = { 'Accept-Encoding': 'gzip' }
    const rates = await compareRates(workspace, {
      logging: { headers, url: `${logging.url}/${COLLECTION}?page=1` },
      without: { headers, url: `${without.url}/${COLLECTION}?page=1` },
    })
    return [
      {
        measured: 'hot page, gzip, with every request logged to a file ÷ without',
        value: rates.logging.requestsASecond / rates.without.requestsASecond,
        required: { atLeast: 0.9 },
        raw: { ...rates, tool: LOAD_TOOL },
      },
    ]
  },
}
