/** How many rows one step removes at most: so few that no writer waits for long, and fewer where the disk has little room for the log. */

import { CHANGES_A_STEP, STATES_A_STEP } from '../../history.ts'
import { REAMS_A_SWEEP, ROWS_A_SWEEP } from '../../load.ts'

export interface StepSize {
  readonly states: number
  readonly changes: number
  readonly reams: number
  readonly rows: number
}

export const FULL_STEP: StepSize = {
  states: STATES_A_STEP,
  changes: CHANGES_A_STEP,
  reams: REAMS_A_SWEEP,
  rows: ROWS_A_SWEEP,
}

/** Each row may lie on a page of its own, and a change on several. */
export const SMALL_STEP: StepSize = { states: 50, changes: 20, reams: 50, rows: 1_000 }
