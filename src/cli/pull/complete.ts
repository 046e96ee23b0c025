/** The proof that a pull is complete. */

import type { PullResult } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'

/** Throws a Failure unless as many items were written as the server counts. */
export function assertComplete(written: number, { itemCount }: PullResult): void {
  if (written === itemCount) return
  throw new Failure(
    1,
    `${formatItems(written)} were written, and the server counts ${formatItems(itemCount)}: the pull is not complete.`,
  )
}
