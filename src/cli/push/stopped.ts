/** Why a push ends before all items are acknowledged, and how far it has come. */

import type { FailureStatus } from '../failure.ts'
import { formatItems } from '../figures.ts'
import type { PushState } from './state.ts'

/** The message is about one batch; what became of the others is said behind it. */
export class PushStopped extends Error {
  override readonly name = 'PushStopped'
  readonly exitStatus: FailureStatus
  /** Whether the batch may have been appended. */
  readonly isOpen: boolean

  constructor(exitStatus: FailureStatus, isOpen: boolean, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitStatus = exitStatus
    this.isOpen = isOpen
  }
}

/** A sentence that can follow any message. */
export function standing({ noted, acknowledged, unanswered, isKept }: PushState): string {
  const count = Math.max(noted.acknowledged, acknowledged)
  if (count === 0 && unanswered === undefined) return 'Nothing was appended.'
  const done = `${formatItems(count)} ${count === 1 ? 'is' : 'are'} acknowledged`
  if (isKept) return `${done}; the same command goes on from there, and doubles nothing.`
  const open =
    unanswered === undefined ? '' : `, and whether the next ${formatItems(unanswered.items)} are there is not known`
  return `${done}${open}. A pipe cannot be read again: go on behind them with a file.`
}
