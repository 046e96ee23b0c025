/** What does durability cost the writers: how many appends are done, next to a service that keeps nothing? */

import { allowWrites } from '../allow-writes.ts'
import { countCommits } from '../commits.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { requestsASecond, runLoad, sentBy, warmUpOf } from '../running-load.ts'
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
    const token = await allowWrites(path, 'bench', COLLECTION)
    await using server = await workspace.serve(path)
    await using storeless = await workspace.serveStoreless()
    workspace.step(`appends: ${WRITERS} connections to the service with and without a store in turn`)
    const plan = { kind: 'append', file, token, connections: WRITERS, requests } as const
    const durable = { url: `${server.url}/${COLLECTION}`, rates: [] as number[], sent: 0 }
    const keptNowhere = { url: `${storeless.url}/${COLLECTION}`, rates: [] as number[], sent: 0 }
    await inTurn(rounds, [durable, keptNowhere], async (side, round) => {
      const load = { ...plan, url: side.url, warmUp: warmUpOf(round, requests) }
      side.rates.push(requestsASecond(await runLoad(load, signal)))
      side.sent += sentBy(load)
    })
    return [
      {
        measured: `appends/s of ${WRITERS} connections, an item a request ÷ of the same service without a store`,
        value: median(durable.rates) / median(keptNowhere.rates),
        required: { atLeast: 0.5 },
        raw: {
          appendsASecond: durable.rates,
          storelessASecond: keptNowhere.rates,
          appendsACommit: durable.sent / countCommits(path),
        },
      },
    ]
  },
}
