/** What do replaces and deletes cost, next to appends? An item lies deflated in a quire, with others. */

import { allowWrites } from '../allow-writes.ts'
import { countCommits } from '../commits.ts'
import { removedAtEnd } from '../database-file.ts'
import { inTurn, median } from '../measure.ts'
import type { Question } from '../question.ts'
import { requestsASecond, runLoad, sentBy } from '../running-load.ts'
import { COLLECTION, WRITERS } from '../workspace.ts'

export const REPLACE_DELETE: Question = {
  name: 'replace-delete',
  needs: ['sample'],
  cost: { seconds: 8, secondsAMillion: 0.5 },
  async run(workspace) {
    const { path: file, items } = await workspace.sample()
    const { path } = await workspace.importSampleTo('changed.db', ['--key', 'id'])
    await using _database = removedAtEnd(path)
    const token = await allowWrites(path, 'bench', 'appended')
    await using server = await workspace.serve(path)
    workspace.step(`replace-delete: ${WRITERS} connections that change random items, or append, in turn`)
    // Every item is changed once, and a quarter more than count are.
    const most = Math.floor((items / workspace.rounds - WRITERS) * 0.8)
    const requests = Math.min(Math.ceil(workspace.requests / 2), most)
    const plan = { file, token, connections: WRITERS, warmUp: Math.ceil(requests / 4), requests } as const
    const changes = { kind: 'change', url: `${server.url}/${COLLECTION}`, rates: [] as number[] } as const
    const appends = { kind: 'append', url: `${server.url}/appended`, rates: [] as number[] } as const
    const sent = { change: 0, append: 0 }
    await inTurn(workspace.rounds, [changes, appends], async ({ kind, url, rates }) => {
      const load = { ...plan, kind, url, skip: kind === 'change' ? sent.change : 0 }
      rates.push(requestsASecond(await runLoad(load, workspace.signal)))
      sent[kind] += sentBy(load)
    })
    return [
      {
        measured: `replaces and deletes of random items in turn, ${WRITERS} connections ÷ appends of the same service`,
        value: median(changes.rates) / median(appends.rates),
        required: { atLeast: 0.5 },
        raw: {
          changesASecond: changes.rates,
          appendsASecond: appends.rates,
          writesACommit: (sent.change + sent.append) / countCommits(path),
        },
      },
    ]
  },
}
