/** Removes what is not kept any more of the history of a collection, in small steps. */

import { type Cutoff, type Forgotten, forgottenForSize } from '../../history.ts'
import { readHead } from '../rows/head.ts'
import { removeChanges, removeStates, takeReplaced } from '../rows/history.ts'
import type { Rows } from '../rows/rows.ts'
import { addLeftover } from './lease.ts'
import type { StepSize } from './step-size.ts'

/** States go first, so that nobody finds one without all of its changes. */
export function forgetStep(rows: Rows, name: string, size: StepSize, cutoff?: Cutoff): Forgotten {
  const head = readHead(rows, name)
  if (head === undefined) return { isMore: false }
  const { states, isForSize, kept } = removeStates(rows, head, size.states, cutoff)
  const notice = isForSize ? { notice: forgottenForSize(head) } : {}
  if (kept === undefined && states.length > 0) return { isMore: true, ...notice }
  if (removeChanges(rows, head, 0, kept?.changes ?? head.changes, size.changes)) return { isMore: true, ...notice }
  for (const { generation } of takeReplaced(rows, head, kept?.generation ?? head.generation))
    addLeftover(rows, { ...head, generation }, 0)
  return { isMore: false, ...notice }
}
