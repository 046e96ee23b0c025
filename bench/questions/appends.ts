/** What does durability cost the writers: how many appends are done, next to a service that keeps nothing? */

import { allowWrites } from '../allow-writes.ts'
import { countCommits } from '../commits.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { requestsASecond, runLoad } from '../running-load.ts'
import { COLLECTION, WRITERS } from '../workspace.ts'

export const APPENDS: Question = {
  name: 'appends',
  needs: ['sample'],
  cost: { seconds: 9, secondsAMillion: 0 },
  async run(workspace) {
    const { rounds, requests, signal } = workspace
    const { path: file } = await workspace.sample()
    const path = workspace.path('appends.db')
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    await using storeless = await workspace.serveStoreless()
    workspace.step(`appends: ${WRITERS} connections to the service with and without a store in turn`)
    const warmUp = Math.ceil(requests / 2)
    const plan = { kind: 'append', file, token, connections: WRITERS, warmUp, requests } as const
    const sides = {
      durable: { server, rates: [] as number[] },
      storeless: { server: storeless, rates: [] as number[] },
    }
    await inTurn(rounds, Object.values(sides), async ({ server, rates }) => {
      rates.push(requestsASecond(await runLoad({ ...plan, url: `${server.url}/${COLLECTION}` }, signal)))
    })
    const [rates, storelessRates] = [sides.durable.rates, sides.storeless.rates]
    return [
      {
        measured: `appends/s of ${WRITERS} connections, an item a request ÷ of the same service without a store`,
        value: median(rates) / median(storelessRates),
        required: { atLeast: 0.5 },
        raw: {
          appendsASecond: rates,
          storelessASecond: storelessRates,
          appendsACommit: (rounds * (warmUp + requests)) / countCommits(path),
        },
      },
    ]
  },
}
