/** What does it cost the writers that the history of a collection is kept, where the store is in PostgreSQL? */

import { compareHistoryRates } from '../history-rates.ts'
import { askPostgres } from '../postgres/ask.ts'

export const PG_HISTORY_COST = askPostgres({
  name: 'pg-history-cost',
  needs: ['sample'],
  cost: { seconds: 60, secondsAMillion: 1 },
  async run(postgres, workspace) {
    const figures = await compareHistoryRates(workspace, {
      question: 'pg-history-cost',
      kept: postgres.store('history'),
      none: postgres.store('no_history'),
      label: 'PostgreSQL: ',
      serve: (store) => postgres.serve(store),
    })
    await postgres.drop('history')
    await postgres.drop('no_history')
    return figures
  },
})
