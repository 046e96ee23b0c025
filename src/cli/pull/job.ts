/** What a pull has to do, and what comes of it. */

import type { Collection, PullResult } from '../../client/index.ts'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'
import type { PullContent } from './content.ts'
import type { PullSubject } from './note.ts'
import type { PullPart } from './part.ts'
import type { PullReport } from './report.ts'
import type { PullSummary } from './summary.ts'

export interface PullJob {
  readonly subject: PullSubject
  readonly collection: Collection
  readonly signal: AbortSignal
  readonly report: PullReport
}

export interface FilePullJob extends PullJob {
  readonly path: string
  /** Whether it is there. */
  readonly isThere: boolean
  readonly isResumed: boolean
  readonly isForced: boolean
}

/** A part that is ready to take pages. */
export interface BegunPull {
  readonly part: PullPart
  readonly content: PullContent
}

export type PullOutcome = Pick<PullSummary, 'items' | 'itemsBefore' | 'bytes' | 'result' | 'unusedColumns'>

/** The proof that a pull is complete: throws a Failure unless as many items were written as the server counts. */
export function provenOutcome(
  { items, bytes }: Pick<PullOutcome, 'items' | 'bytes'>,
  result: PullResult,
  { unusedColumns }: PullContent,
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
  return { items, itemsBefore, bytes, result, unusedColumns: itemsBefore === 0 ? unusedColumns() : [] }
}
