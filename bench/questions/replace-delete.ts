/** What do replaces and deletes cost? An item lies deflated in a ream with 499 others, all of which are written anew. */

import { allowWrites } from '../allow-writes.ts'
import { countCommits } from '../commits.ts'
import { removedAtEnd } from '../database-file.ts'
import { median } from '../measure.ts'
import type { Question } from '../question.ts'
import { measureRewrite, type RewriteParts } from '../rewrite-parts.ts'
import { requestsASecond, runLoad } from '../running-load.ts'
import { COLLECTION, WRITERS } from '../workspace.ts'

export const REPLACE_DELETE: Question = {
  name: 'replace-delete',
  needs: ['sample'],
  cost: { seconds: 8, secondsAMillion: 0.5 },
  async run(workspace) {
    const { path: file } = await workspace.sample()
    const { path } = await workspace.importSampleTo('changed.db', ['--key', 'id'])
    await using _database = removedAtEnd(path)
    const parts = await measureRewrite(path, COLLECTION)
    const token = await allowWrites(path)
    await using server = await workspace.serve(path)
    workspace.step(`replace-delete: random replaces and deletes of ${WRITERS} connections`)
    const requests = Math.ceil(workspace.requests / 2)
    const warmUp = Math.ceil(requests / 4)
    const plan = { kind: 'change', file, url: `${server.url}/${COLLECTION}`, token, connections: WRITERS } as const
    const rates: number[] = []
    let sent = 0
    for (let round = 0; round < workspace.rounds; round++) {
      const result = await runLoad({ ...plan, skip: sent, warmUp, requests }, workspace.signal)
      rates.push(requestsASecond(result))
      // When the last one that counts is answered, the other connections still wait.
      sent += warmUp + requests + WRITERS - 1
    }
    const changesACommit = sent / countCommits(path)
    return [
      {
        measured: `replaces and deletes of random items in turn, ${WRITERS} connections`,
        value: median(rates),
        unit: 'writes/s',
        raw: { writesASecond: rates, changesACommit, ...parts },
        note: explain(parts, changesACommit),
      },
    ]
  },
}

function explain({ inflateMs, splitMs, joinMs, deflateMs }: RewriteParts, changesACommit: number): string {
  const [inflate, split, join, deflate] = [inflateMs, splitMs, joinMs, deflateMs].map((ms) => `${ms.toFixed(2)} ms`)
  return `a change of one item inflates its ream (${inflate}), splits the 500 items (${split}), joins them again (${join}) and deflates them (${deflate}), in the one thread that writes; ${changesACommit.toFixed(0)} changes shared a commit.`
}
