/** How much of the speed of a hot page is left where every page is another one? */

import type { Figure, Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION } from '../workspace.ts'

const LEAST = { gzip: 0.65, identity: 0.45 } as const

export const COLD_PAGES: Question = {
  name: 'cold-pages',
  needs: ['ndjson', 'store'],
  cost: { seconds: 52, secondsAMillion: 0.3 },
  async run(workspace) {
    const { path } = await workspace.store()
    await using server = await workspace.serve(path)
    // A small collection would be in the cache after a while.
    await using uncached = await workspace.serve(path, ['--cache-bytes', '0'])
    const figures: Figure[] = []
    for (const encoding of ['gzip', 'identity'] as const) {
      const form = encoding === 'gzip' ? 'gzip' : 'plain'
      workspace.step(`cold-pages: random pages without a cache, and one page with it, in turn, ${form}`)
      const headers = { 'Accept-Encoding': encoding }
      const rates = await compareRates(workspace, {
        cold: { url: `${uncached.url}/${COLLECTION}`, headers, pages: workspace.lastPage },
        hot: { url: `${server.url}/${COLLECTION}?page=1`, headers },
      })
      figures.push({
        measured: `cold random pages, ${form}: requests/s ÷ one hot page`,
        value: rates.cold.requestsASecond / rates.hot.requestsASecond,
        required: { atLeast: LEAST[encoding] },
        raw: { ...rates, tool: LOAD_TOOL },
      })
    }
    return figures
  },
}
