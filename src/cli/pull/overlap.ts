/** Compares the end of a file with the same place in a collection. */

import { isRepetitive } from '../../client/anchor.ts'
import type { Page } from '../../client/index.ts'
import { linesOf } from '../../client/ndjson.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { Failure } from '../failure.ts'
import { OtherColumns } from './csv.ts'
import { type FinishedFile, textOf } from './finished.ts'
import type { PullForm } from './form.ts'
import type { PullJob } from './job.ts'

/** Whether the items of the file are still the first of the collection. `page` is the one with the last of them. */
export async function isStillBeginning(
  file: FinishedFile,
  page: Page,
  form: PullForm,
  { subject, collection, signal }: PullJob,
): Promise<boolean> {
  // Where items can look alike, the page before has to be the same too.
  const isOneEnough = page.number === 1 || (subject.columns === undefined && !hasTwins(file))
  const pages = isOneEnough ? [page] : [await collection.page(page.number - 1, { signal }), page]
  try {
    return isBeginning(file, pages, form)
  } catch (error) {
    // An item that cannot stand in such a file.
    if (error instanceof OtherColumns || error instanceof Failure) return false
    throw error
  }
}

/** By the last of them: something removed before these would have moved them up. `pages` follow on one another. */
function isBeginning({ items, tail }: FinishedFile, pages: readonly Page[], form: PullForm): boolean {
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
function hasTwins({ tail }: FinishedFile): boolean {
  return new Set(tail.map(textOf)).size < tail.length
}
