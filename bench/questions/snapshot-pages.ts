/** What does a page of a snapshot cost, next to the same page of the live collection: unchanged since, and changed? */

import { removedAtEnd } from '../database-file.ts'
import type { Question } from '../question.ts'
import { compareSnapshots } from '../snapshot-latencies.ts'

export const SNAPSHOT_PAGES: Question = {
  name: 'snapshot-pages',
  needs: ['sample'],
  cost: { seconds: 15, secondsAMillion: 2 },
  async run(workspace) {
    const path = workspace.path('snapshots.db')
    await using _database = removedAtEnd(path)
    const serve = (flags: readonly string[]) => workspace.serve(path, flags)
    return compareSnapshots(workspace, { question: 'snapshot-pages', store: path, label: '', serve })
  },
}
