/** Does the memory of an import stay within bounds, and does it stop growing? */

import { growth, peakMegabytes } from '../memory.ts'
import type { Question } from '../question.ts'

export const IMPORT_MEMORY: Question = {
  name: 'import-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 0, secondsAMillion: 0 },
  async run(workspace) {
    const { memory } = await workspace.store()
    const { value, ...raw } = growth(memory)
    return [
      {
        measured: 'peak memory of reams import',
        value: peakMegabytes(memory),
        unit: 'MB',
        required: { atMost: 250 },
        raw: { peakMegabytes: peakMegabytes(memory), samples: memory.length },
      },
      {
        measured: 'its memory in the last quarter of the time ÷ in the second quarter',
        value,
        required: { atMost: 1.1 },
        raw,
      },
    ]
  },
}
