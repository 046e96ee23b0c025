/** What do replaces and deletes cost? An item lies deflated in a ream with 499 others, all of which are written anew. */

import { allowWrites } from '../allow-writes.ts'
import { countCommits } from '../commits.ts'
import { removedAtEnd } from '../database-file.ts'
import { median } from '../measure.ts'
import type { Question } from '../question.ts'
import { measureRewrite, type RewriteParts } from '../rewrite-parts.ts'
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
    const parts = await measureRewrite(path, COLLECTION)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    workspace.step(`replace-delete: random replaces and deletes of ${WRITERS} connections`)
    // Every item is changed once, and a quarter more than count are.
    const most = Math.floor((items / workspace.rounds - WRITERS) * 0.8)
    const requests = Math.min(Math.ceil(workspace.requests / 2), most)
    const plan = { kind: 'change', file, url: `${server.url}/${COLLECTION}`, token, connections: WRITERS } as const
    const rates: number[] = []
    let sent = 0
    for (let round = 0; round < workspace.rounds; round++) {
      const load = { ...plan, skip: sent, warmUp: Math.ceil(requests / 4), requests }
      rates.push(requestsASecond(await runLoad(load, workspace.signal)))
      sent += sentBy(load)
    }
    const changesACommit = sent / countCommits(path)
    return [
      {
        measured: `replaces and deletes of random items in turn, ${WRITERS} connections`,
        value: median(rates),
        unit: 'writes/s',
        better: 'higher',
        raw: { writesASecond: rates, changesACommit, ...parts },
        note: explain(parts, changesACommit),
      },
    ]
  },
}

function explain({ inflateMs, editMs, deflateMs }: RewriteParts, changesACommit: number): string {
  const [inflate, edit, deflate] = [inflateMs, editMs, deflateMs].map((ms) => `${ms.toFixed(2)} ms`)
  return `to change one item, its ream of 500 is inflated and checked (${inflate}), the bytes of the item are exchanged (${edit}) and all is deflated again (${deflate}), in the one thread that writes. ${changesACommit.toFixed(0)} changes shared a commit; those of one ream would share this work as well.`
}
