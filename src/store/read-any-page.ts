/** Reads any page of a collection: as it is now, as it was, or of the changes since. */

import type { StateTag } from '../contract/state-tag.ts'
import { presentState, readChangesSince, readPageAt } from './past.ts'
import type { ReadCache } from './read-cache.ts'
import { MOVED, readPage, readPageOf } from './read-page.ts'
import type { Steps } from './rows.ts'
import type { PageRead, PastRead, SegmentForm } from './store.ts'
import type { StoredHead } from './tables.ts'

/** Which earlier state, and whether the changes since are asked for. */
export interface PastQuestion {
  readonly tag: StateTag
  readonly isChanges: boolean
}

export interface AnyPage {
  readonly name: string
  readonly page: number
  readonly isPublicOnly: boolean
  /** Undefined: the page as it is now. */
  readonly past?: PastQuestion | undefined
  readonly form: SegmentForm
}

/** Without a snapshot. Returns MOVED if the page needs one. */
export function* readAnyPage(
  { name, page, isPublicOnly, past }: AnyPage,
  cache: ReadCache,
): Steps<PageRead | PastRead | undefined | typeof MOVED> {
  if (past === undefined) return yield* readPage(name, page, cache, isPublicOnly)
  if (past.isChanges || !cache.isCurrent(name, past.tag)) return MOVED
  // Nothing has changed since, as far as is known.
  const read = yield* readPage(name, page, cache, isPublicOnly)
  if (read === MOVED || read?.head.commitId !== past.tag.commitId) return MOVED
  return { ...presentState(read.head, past.tag), ...read }
}

/** In the snapshot of the head. */
export function* readAnyPageOf(
  head: StoredHead,
  { page, past, form }: AnyPage,
  cache: ReadCache,
): Steps<PageRead | PastRead> {
  cache.sawHead(head.name, head)
  if (past === undefined) return yield* readPageOf(head, page, cache)
  const { tag, isChanges } = past
  if (isChanges) return yield* readChangesSince(head, tag, page)
  if (tag.commitId === head.commitId) return { ...presentState(head, tag), ...(yield* readPageOf(head, page, cache)) }
  return yield* readPageAt(head, tag, page, form, cache)
}
