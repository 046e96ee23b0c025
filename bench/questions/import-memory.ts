/** Does the memory of an import stay within bounds, and does it stop growing? */

import { memoryFigures } from '../memory.ts'
import type { Question } from '../question.ts'

export const IMPORT_MEMORY: Question = {
  name: 'import-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 0, secondsAMillion: 0 },
  async run(workspace) {
    const { memory } = await workspace.store()
    return memoryFigures('reams import', memory, 250)
  },
}
