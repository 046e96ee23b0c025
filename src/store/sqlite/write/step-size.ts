/** How many rows one step removes at most: so few that no writer waits for long, and fewer where the disk has little room for the log. */

import { CHANGES_A_STEP, STATES_A_STEP } from '../../history.ts'
import type { SweepSize } from '../../leases.ts'
import { REAMS_A_SWEEP, ROWS_A_SWEEP } from '../../load.ts'

export const FULL_STEP: SweepSize = {
  states: STATES_A_STEP,
  changes: CHANGES_A_STEP,
  reams: REAMS_A_SWEEP,
  rows: ROWS_A_SWEEP,
}

/** Each row may be on a page of its own, and a change on several. */
export const SMALL_STEP: SweepSize = { states: 50, changes: 20, reams: 50, rows: 1_000 }
