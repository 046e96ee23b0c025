/** What a pull has to do, and the proof that it was done. */

import type { Collection, PullResult } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'
import type { PullFormat } from './format.ts'
import type { PullSubject } from './part.ts'
import type { PullOutcome, PullReport } from './report.ts'

export interface PullJob {
  readonly subject: PullSubject
  readonly collection: Collection
  readonly signal: AbortSignal
  readonly report: PullReport
}

/** The proof that a pull is complete: throws a Failure unless as many items were written as the server counts. */
export function provenOutcome(
  { items, bytes, format }: { items: number; bytes: number; format: PullFormat },
  result: PullResult,
  itemsAtBeginning = 0,
): PullOutcome {
  const { itemCount, restarts } = result
  if (items !== itemCount)
    throw new Failure(
      1,
      `${formatItems(items)} were written, and the server counts ${formatItems(itemCount)}: the pull is not complete.`,
    )
  const itemsBefore = restarts === 0 ? itemsAtBeginning : 0
  // Of items that came before, nobody knows which fields they had.
  return { items, itemsBefore, bytes, result, unusedColumns: itemsBefore === 0 ? format.unusedColumns : [] }
}
