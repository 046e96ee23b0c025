/** Where a sync is slow, what do writers gain by sharing commits? */

import { allowWrites } from '../allow-writes.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { requestsASecond, runLoad, warmUpOf } from '../running-load.ts'
import { ADDED_MS, lackOfSlowDisk, medianSyncMs } from '../slow-disk.ts'
import { COLLECTION, type Workspace, WRITERS } from '../workspace.ts'

export const SLOW_DISK: Question = {
  name: 'slow-disk',
  needs: ['sample'],
  cost: { seconds: 9, secondsAMillion: 0 },
  async run(workspace) {
    const lack = await lackOfSlowDisk()
    if (lack !== undefined) return { skipped: lack }
    const traceFile = workspace.path('syncs')
    const { shared, alone } = await compareRates(workspace, traceFile)
    return [
      {
        measured: `appends/s of ${WRITERS} connections ÷ of one, whose commits hold an item each; ${ADDED_MS} ms more a sync`,
        value: median(shared) / median(alone),
        required: { atLeast: 15 },
        raw: { appendsASecond: shared, aloneASecond: alone, medianSyncMs: medianSyncMs(traceFile) },
      },
    ]
  },
}

async function compareRates(workspace: Workspace, traceFile: string): Promise<{ shared: number[]; alone: number[] }> {
  const { rounds, requests, signal } = workspace
  const { path: file } = await workspace.sample()
  const path = workspace.path('slow-disk.db')
  const token = await allowWrites(path, 'bench', COLLECTION)
  await using server = await workspace.serveOnSlowDisk(path, traceFile)
  workspace.step(`slow-disk: ${WRITERS} connections, and a single one, in turn`)
  const plan = { kind: 'append', file, url: `${server.url}/${COLLECTION}`, token } as const
  const shared = { connections: WRITERS, requests, rates: [] as number[] }
  const alone = { connections: 1, requests: Math.ceil(requests / 8), rates: [] as number[] }
  await inTurn(rounds, [shared, alone], async ({ rates, ...load }, round) => {
    // What a single connection sends would be too few for the compiler; the others have been before it.
    const warmUp = warmUpOf(load.connections === 1 ? 1 : round, load.requests)
    rates.push(requestsASecond(await runLoad({ ...plan, ...load, warmUp }, signal)))
  })
  return { shared: shared.rates, alone: alone.rates }
}
