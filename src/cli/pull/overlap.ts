/** Compares the end of a file with the same place in a collection. */

import { isRepetitive } from '../../client/anchor.ts'
import type { Page } from '../../client/index.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { type FinishedFile, textOf } from './finished.ts'
import { linesOf, type PullForm } from './form.ts'

/**
 * Whether the items of the file are the first of the collection, by the last of them: something removed before these
 * would have moved them up. `pages` follow on one another, up to the one with the last item of the file.
 */
export function isBeginning({ items, tail }: FinishedFile, pages: readonly Page[], form: PullForm): boolean {
  const [first] = pages
  const before = first?.isPaginated ? (first.number - 1) * PAGE_SIZE : 0
  const lines = pages.flatMap((page) => [...linesOf(page.ndjson())])
  const start = Math.max(before, items - tail.length)
  const records = lines.slice(start - before, items - before).map((line) => textOf(form.record(line)))
  const expected = tail.slice(start - items).map(textOf)
  const isSame = records.length === expected.length && records.every((record, place) => record === expected[place])
  return isSame && !isRepetitive(expected)
}

/** Whether two of the last items are the same. */
export function hasTwins({ tail }: FinishedFile): boolean {
  return new Set(tail.map(textOf)).size < tail.length
}
