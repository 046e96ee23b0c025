/** Does the memory of a pull stay within bounds, and does it stop growing? */

import { formatCount } from '../../src/contract/message-text.ts'
import { memoryFigures } from '../memory.ts'
import type { Question } from '../question.ts'
import { COLLECTION } from '../workspace.ts'

export const PULL_MEMORY: Question = {
  name: 'pull-memory',
  needs: ['ndjson', 'store'],
  cost: { seconds: 1, secondsAMillion: 5 },
  async run(workspace) {
    const { path } = await workspace.store()
    await using server = await workspace.serve(path)
    workspace.step(`pull-memory: ${formatCount(workspace.items)} items to a file`)
    const { memory } = await workspace.pull(`${server.url}/${COLLECTION}`, 4)
    return memoryFigures('reams pull', memory, 200)
  },
}
