/** How fast do many items come in over HTTP, next to an import of the same file? */

import { formatCount } from '../../src/contract/message-text.ts'
import { allowWrites } from '../allow-writes.ts'
import { removeDatabase, removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { runLoad } from '../running-load.ts'
import { COLLECTION } from '../workspace.ts'
import { ITEMS_A_REQUEST } from '../write-requests.ts'

export const BIG_REQUESTS: Question = {
  name: 'big-requests',
  needs: ['sample'],
  cost: { seconds: 7, secondsAMillion: 2 },
  async run(workspace) {
    const { path: file, items } = await workspace.sample()
    const path = workspace.path('big-requests.db')
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path, 'bench', COLLECTION)
    await using server = await workspace.serve(path)
    workspace.step(`big-requests: ${formatCount(ITEMS_A_REQUEST)} items a request, and reams import, in turn`)
    const plan = { kind: 'append-many', file, url: `${server.url}/${COLLECTION}`, token } as const
    const sent: number[] = []
    const imported: number[] = []
    await inTurn(workspace.rounds, ['send', 'import'] as const, async (side) => {
      if (side === 'send') {
        const { durationMs } = await runLoad({ ...plan, connections: 1, warmUp: 0 }, workspace.signal)
        sent.push(items / (durationMs / 1000))
      } else {
        const run = await workspace.importSampleTo('imported.db')
        imported.push(items / (run.wallMs / 1000))
        await removeDatabase(run.path)
      }
    })
    return [
      {
        measured: `items/s of one connection, ${formatCount(ITEMS_A_REQUEST)} a request ÷ of reams import of the same file`,
        value: median(sent) / median(imported),
        required: { atLeast: 0.4 },
        raw: { itemsASecond: sent, importItemsASecond: imported, items },
      },
    ]
  },
}
