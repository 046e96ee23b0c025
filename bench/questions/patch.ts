/** How many changes a second come in by PATCH, many in a request, each of a random item? */

import { formatCount } from '../../src/contract/message-text.ts'
import { allowWrites } from '../allow-writes.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { requestsASecond, runLoad } from '../running-load.ts'
import { COLLECTION } from '../workspace.ts'
import { ITEMS_A_REQUEST } from '../write-requests.ts'

export const PATCH: Question = {
  name: 'patch',
  needs: ['sample'],
  cost: { seconds: 20, secondsAMillion: 5 },
  async run(workspace) {
    const { path: file, items } = await workspace.sample()
    const { path } = await workspace.importSampleTo('patched.db', ['--key', 'id'])
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    workspace.step(`patch: one connection, ${formatCount(ITEMS_A_REQUEST)} puts of random items a request`)
    const requests = Math.max(1, Math.min(Math.ceil(workspace.requests / 50), Math.floor(items / ITEMS_A_REQUEST)))
    const plan = { kind: 'patch', file, url: `${server.url}/${COLLECTION}`, token, connections: 1, requests } as const
    const rates: number[] = []
    await inTurn(workspace.rounds, [plan], async (load, round) => {
      const measured = await runLoad({ ...load, warmUp: round === 0 ? 1 : 0 }, workspace.signal)
      rates.push(requestsASecond(measured) * ITEMS_A_REQUEST)
    })
    return [
      {
        measured: `changes/s by PATCH, ${formatCount(ITEMS_A_REQUEST)} random puts a request, ${formatCount(items)} items`,
        value: median(rates),
        better: 'higher',
        raw: { changesASecond: rates },
      },
    ]
  },
}
