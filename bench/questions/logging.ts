/** What do a line in the log for every request, and metrics, cost of a page that is asked for again and again? */

import { loggingTo } from '../child-process.ts'
import type { Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION } from '../workspace.ts'

const WITH_LOG = ['--log-requests', 'all']
const WITH_METRICS = ['--admin-port', '0']

export const LOGGING: Question = {
  name: 'logging',
  needs: ['sample'],
  cost: { seconds: 56, secondsAMillion: 0 },
  async run(workspace) {
    const path = await workspace.storeOf(Math.min(workspace.items, 100_000), 'logging.db')
    const log = loggingTo(workspace.path('log'))
    await using without = await workspace.serve(path)
    await using logging = await workspace.serve(path, WITH_LOG, log)
    await using metrics = await workspace.serve(path, WITH_METRICS)
    await using both = await workspace.serve(path, [...WITH_LOG, ...WITH_METRICS], log)
    workspace.step('logging: with a log of all requests, with metrics, with both and with neither in turn')
    const hotPage = ({ url }: { readonly url: string }) => ({
      headers: { 'Accept-Encoding': 'gzip' },
      url: `${url}/${COLLECTION}?page=1`,
    })
    const rates = await compareRates(workspace, {
      logging: hotPage(logging),
      metrics: hotPage(metrics),
      both: hotPage(both),
      without: hotPage(without),
    })
    const raw = { ...rates, tool: LOAD_TOOL }
    const share = (name: 'logging' | 'metrics' | 'both') => rates[name].requestsASecond / rates.without.requestsASecond
    return [
      {
        measured: 'hot page, gzip, with every request logged to a file ÷ without',
        value: share('logging'),
        better: 'higher',
        raw,
      },
      { measured: 'hot page, gzip, with metrics ÷ without', value: share('metrics'), required: { atLeast: 0.95 }, raw },
      {
        measured: 'hot page, gzip, with every request logged to a file and metrics ÷ without both',
        value: share('both'),
        required: { atLeast: 0.85 },
        raw,
      },
    ]
  },
}
