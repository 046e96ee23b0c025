/** Reading earlier states and changes. */

import type { StateTag } from '../../../contract/state-tag.ts'
import { type Asking, answerAll, KnownPast, presentState, readChangesSince, readPageAt, readState } from '../../past.ts'
import type { Head, PageRead, PastRead, StateOptions, StateRead } from '../../store.ts'
import { inCollection } from '../rows/explain-error.ts'
import { readHead } from '../rows/head.ts'
import { pastRows } from '../rows/history.ts'
import type { Rows } from '../rows/rows.ts'
import type { PageQuestion } from './page-message.ts'
import { findPage, readPage } from './read.ts'

const known = new WeakMap<Rows, KnownPast>()

function knownPast(rows: Rows): KnownPast {
  const past = known.get(rows) ?? new KnownPast()
  known.set(rows, past)
  return past
}

/** A page as it is now, or as it was, or of the changes since. */
export function readAnyPage(rows: Rows, question: PageQuestion): PageRead | PastRead | undefined {
  const { name, page, isPublicOnly, past } = question
  if (past === undefined) return readPage(rows, name, page, isPublicOnly)
  if (!past.isChanges && knownPast(rows).isPresent(name, past.tag)) {
    const read = readPage(rows, name, page, isPublicOnly)
    if (read?.head.commitId === past.tag.commitId) return { ...presentState(read.head, past.tag), ...read }
  }
  return rows.inSnapshot(() => {
    const head = readHead(rows, name, isPublicOnly)
    return head && findAnyPage(rows, head, question)
  })
}

/** The same, in the snapshot of the head. */
export function findAnyPage(rows: Rows, head: Head, { page, past, form }: PageQuestion): PageRead | PastRead {
  if (past === undefined) return findPage(rows, head, page)
  const { tag, isChanges } = past
  if (isChanges) return ask(rows, head, readChangesSince(head, tag, page))
  knownPast(rows).meet(head)
  // Nothing has changed since.
  if (tag.commitId === head.commitId) return { ...presentState(head, tag), ...findPage(rows, head, page) }
  return ask(rows, head, readPageAt(head, tag, page, form, knownPast(rows)))
}

export function readStateAt(
  rows: Rows,
  name: string,
  tag: StateTag,
  { isPublicOnly = false, page }: StateOptions,
): StateRead | undefined {
  return rows.inSnapshot(() => {
    const head = readHead(rows, name, isPublicOnly)
    return head && ask(rows, head, readState(head, tag, page, knownPast(rows)))
  })
}

function ask<T>(rows: Rows, head: Head, asking: Asking<T>): T {
  return inCollection(head.name, () => answerAll(asking, pastRows(rows, head)))
}
