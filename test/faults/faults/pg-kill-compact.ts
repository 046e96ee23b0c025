/** kill -9 of a compaction in PostgreSQL at a random moment, and another one beside it. */

import type { Fault } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { killCompactions } from './kill-compact.ts'
import { withDatabase } from './pg-kill-import.ts'

export const PG_KILL_COMPACT: Fault = {
  name: 'pg-kill-compact',
  description: 'kill -9 of a compaction in PostgreSQL, and one beside it of what clients write to',
  rounds: 30,
  fewRounds: 1,
  needs: [POSTGRES],
  run: (trial) => withDatabase(trial, (target) => killCompactions(trial, target)),
}
