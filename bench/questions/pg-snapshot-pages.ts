/** What does a page of a snapshot cost, next to the same live page, where the store is in PostgreSQL? */

import { askPostgres } from '../postgres/ask.ts'
import { compareSnapshots } from '../snapshot-latencies.ts'

export const PG_SNAPSHOT_PAGES = askPostgres({
  name: 'pg-snapshot-pages',
  needs: ['sample'],
  cost: { seconds: 30, secondsAMillion: 1 },
  async run(postgres, workspace) {
    const store = postgres.store('snapshots')
    const serve = async (flags: readonly string[]) => {
      await postgres.settle()
      return postgres.serve(store, flags)
    }
    const place = { question: 'pg-snapshot-pages', store, label: 'PostgreSQL: ', serve }
    const figures = await compareSnapshots(workspace, place)
    await postgres.drop('snapshots')
    return figures
  },
})
