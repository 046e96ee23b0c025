/** Does the memory of an import stay within bounds, and does it stop growing? */

import { median } from '../measure.ts'
import { requireMemory } from '../memory.ts'
import type { Question } from '../question.ts'

const MEGABYTE = 1e6

export const IMPORT_MEMORY: Question = {
  name: 'import-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 0, secondsAMillion: 0 },
  async run(workspace) {
    const { memory } = await workspace.store()
    const last = requireMemory(memory.at(-1))
    const rss = memory.map(({ rssBytes }) => rssBytes / MEGABYTE)
    const secondQuarter = median(rss.slice(Math.floor(rss.length / 4), Math.ceil(rss.length / 2)))
    const lastQuarter = median(rss.slice(Math.floor((rss.length * 3) / 4)))
    return [
      {
        measured: 'peak memory of reams import',
        value: last.peakRssBytes / MEGABYTE,
        unit: 'MB',
        required: { atMost: 250 },
        raw: { peakMegabytes: last.peakRssBytes / MEGABYTE, samples: rss.length },
      },
      {
        measured: 'its memory in the last quarter of the time ÷ in the second quarter',
        value: lastQuarter / secondQuarter,
        required: { atMost: 1.1 },
        raw: { secondQuarterMegabytes: secondQuarter, lastQuarterMegabytes: lastQuarter, samples: rss.length },
      },
    ]
  },
}
