/** What does it cost the writers that the history of a collection is kept? */

import { removedAtEnd } from '../database-file.ts'
import { compareHistoryRates } from '../history-rates.ts'
import type { Question } from '../question.ts'

export const HISTORY_COST: Question = {
  name: 'history-cost',
  needs: ['sample'],
  cost: { seconds: 50, secondsAMillion: 2 },
  async run(workspace) {
    const [kept, none] = [workspace.path('history.db'), workspace.path('no-history.db')]
    await using _kept = removedAtEnd(kept)
    await using _none = removedAtEnd(none)
    const serve = (store: string) => workspace.serve(store)
    return compareHistoryRates(workspace, { question: 'history-cost', kept, none, label: '', serve })
  },
}
