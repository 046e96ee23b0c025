/** What a pull has to do, and what comes of it. */

import type { Collection, WalkState } from '../../client/index.ts'
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

/** What of an earlier pull is kept. */
export interface Kept {
  readonly bytes: number
  readonly walk: WalkState | undefined
  readonly isDraft: boolean
  readonly fields: readonly string[]
}

/** The columns of CSV are known when all items are. */
export function nothingKept({ format, columns }: PullSubject): Kept {
  return { bytes: 0, walk: undefined, isDraft: format === 'csv' && columns === undefined, fields: [] }
}

/** A part that is ready to take pages. */
export interface BegunPull {
  readonly part: PullPart
  readonly content: PullContent
}

export type PullOutcome = Pick<PullSummary, 'items' | 'itemsBefore' | 'bytes' | 'result' | 'unusedColumns'>
