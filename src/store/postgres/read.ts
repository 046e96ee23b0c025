/** Reading pages, items and whole collections. Everything that one call answers comes from one snapshot. */

import { effectivePage, PAGE_SIZE, pageRange } from '../../contract/page.ts'
import { indexOfSlot, isGone } from '../gone-map.ts'
import { cutItems, deflatedSegment, itemAt, joinCuts, joinItems, REAM_SIZE, rawSegment } from '../ream.ts'
import type { Head, PageRead, Segment } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { headOf, placeOf, readHead, type StoredHead, shownHead } from './head.ts'
import { keyBytes } from './key.ts'
import type { Reading, Row, Rows } from './rows.ts'
import { HEAD_WIDTH } from './statements.ts'
import { bytesOf, readReams, readTail, reamOf } from './stored-ream.ts'

/** It lasts as long as its reader takes, whatever the database allows others. */
export const SNAPSHOT =
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0'

/** Runs `read` in one snapshot, for what takes several statements. */
export async function inSnapshot<T>(rows: Rows, read: () => Promise<T>): Promise<T> {
  await rows.execute(SNAPSHOT)
  try {
    return await read()
  } finally {
    await rows.execute('ROLLBACK').catch(() => {})
  }
}

/** What a guess gave: the head, if there is such a collection, and the page, if the guess was right. */
export interface Guess {
  readonly head?: Head
  readonly read?: PageRead
}

/** A page in the cheapest statement. The guess: there are no holes, so that `guessed` is the page, and a whole ream. */
export async function guessPage(rows: Reading, name: string, requested: number, guessed: number): Promise<Guess> {
  const row = await rows.first('guessPage', placeOf(name), name, guessed - 1)
  if (row === undefined) return {}
  const head = shownHead(headOf(name, row))
  const isRight = isWhole(head) && effectivePage(requested, head.live) === guessed && guessed <= sealedReams(head)
  if (!isRight || row[HEAD_WIDTH] === null) return { head }
  return { head, read: { head, page: guessed, segments: [deflatedSegment(bytesOf(row, HEAD_WIDTH))] } }
}

/** The same for a last page that is not full. */
export async function guessTail(rows: Reading, name: string, requested: number): Promise<Guess> {
  const row = await rows.first('guessTail', placeOf(name), name)
  if (row === undefined) return {}
  const head = shownHead(headOf(name, row))
  const page = effectivePage(requested, head.live)
  const count = row[HEAD_WIDTH] as number
  if (!isWhole(head) || page <= sealedReams(head) || count !== head.next % REAM_SIZE) return { head }
  return { head, read: { head, page, segments: count === 0 ? [] : [segmentOf(row, HEAD_WIDTH)] } }
}

/** A collection whose pages are its reams. */
export function isWhole(head: Head): boolean {
  return head.isPaginated && head.live === head.next
}

/** All items of an unpaginated collection, in one statement. */
export async function readWhole(rows: Rows, name: string): Promise<PageRead | undefined> {
  const found = await rows.all('readWhole', placeOf(name), name)
  if (found[0] === undefined) return undefined
  const head = headOf(name, found[0])
  const parts = found.filter((row) => row[HEAD_WIDTH] !== null)
  const segments = parts.map((row) => segmentOf(row, HEAD_WIDTH))
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  if (count !== head.live) throw damaged(head, Math.floor(head.next / REAM_SIZE))
  return { head: shownHead(head), page: 0, segments }
}

/** Some of a page, with the head of the same statement. */
interface PagePart {
  readonly head: StoredHead
  readonly page: number
  readonly segments: readonly Segment[]
  readonly isComplete: boolean
}

/** Any page of a paginated collection, in one statement unless a long stretch of it is gone. */
export async function readPagePart(
  rows: Rows,
  name: string,
  requested: number,
  taken = 0,
): Promise<PagePart | undefined> {
  const found = await rows.all('readPage', placeOf(name), name, requested, taken)
  if (found[0] === undefined) return undefined
  const head = headOf(name, found[0])
  const page = effectivePage(requested, head.live)
  const { start, end } = pageRange(page, head.live)
  const wanted = end - start - taken
  const segments = joinCuts(takeSegments(found, head, wanted))
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  return { head, page, segments, isComplete: count === wanted }
}

/** The wanted items from the reams that a statement found, which follow on one another. */
function* takeSegments(found: readonly Row[], head: StoredHead, wanted: number): Generator<Segment> {
  let left = wanted
  let skipped = found[0]?.[HEAD_WIDTH] as number
  let expected = found[0]?.[HEAD_WIDTH + 1] as number
  for (const row of found) {
    if (left === 0 || row[PART] === null) return
    if (row[PART + 4] !== expected++) throw damaged(head, expected - 1)
    const segment = segmentOf(row, PART)
    const take = Math.max(0, Math.min(segment.count - skipped, left))
    if (take > 0 && take === segment.count) yield segment
    else if (take > 0) yield rawSegment(cutItems(segment.raw(), skipped, skipped + take), take)
    left -= take
    skipped = 0
  }
}

/** The column where a ream begins in a row of `readPage`. */
const PART = HEAD_WIDTH + 2

/** A ream, or the tail, which is not deflated and has no checksum. */
function segmentOf(row: Row, at: number): Segment {
  const bytes = bytesOf(row, at)
  return row[at + 2] === null ? rawSegment(bytes.data, bytes.count) : deflatedSegment(bytes)
}

/** Any page, in as many statements as it takes. To be called in a snapshot. */
export async function readPage(rows: Rows, name: string, requested: number): Promise<PageRead | undefined> {
  const segments: Segment[] = []
  for (let taken = 0; ; ) {
    const part = await readPagePart(rows, name, requested, taken)
    if (part === undefined) return undefined
    segments.push(...part.segments)
    if (part.isComplete) return { head: shownHead(part.head), page: part.page, segments }
    const count = part.segments.reduce((sum, segment) => sum + segment.count, 0)
    if (count === 0) throw damaged(part.head, Math.floor(((part.page - 1) * PAGE_SIZE) / REAM_SIZE))
    taken += count
  }
}

/** All items in order: every ream that is not empty, then the tail. To be called in a snapshot. */
export async function* readSegments(rows: Rows, head: StoredHead): AsyncGenerator<Segment> {
  const sealed = sealedReams(head)
  let expected = 0
  for await (const ream of readReams(rows, head, 0, sealed)) {
    if (ream.number !== expected++) throw damaged(head, expected - 1)
    if (ream.count > 0) yield deflatedSegment(ream)
  }
  if (expected !== sealed) throw damaged(head, expected)
  const texts: string[] = []
  for await (const { item } of readTail(rows, head, sealed * REAM_SIZE, head.next)) texts.push(item)
  if (texts.length > 0) yield rawSegment(joinItems(texts), texts.length)
}

/** The head, and the text of the item with that key, in one statement. */
export async function readItem(
  rows: Reading,
  name: string,
  key: string,
): Promise<{ head: Head; text: Uint8Array | undefined } | undefined> {
  const bytes = keyBytes(key)
  // No item has such a key, and Citus looks up no NULL.
  if (bytes === null) {
    const head = await readHead(rows, name)
    return head && { head: shownHead(head), text: undefined }
  }
  const row = await rows.first('readItem', placeOf(name), name, bytes)
  if (row === undefined) return undefined
  const head = headOf(name, row)
  const position = row[HEAD_WIDTH] as number | null
  return { head: shownHead(head), text: position === null ? undefined : itemOf(row, head, position) }
}

function itemOf(row: Row, head: StoredHead, position: number): Uint8Array {
  const number = Math.floor(position / REAM_SIZE)
  const inTail = row[HEAD_WIDTH + 1] as Buffer | null
  if (number === sealedReams(head) && inTail !== null) return inTail
  if (row[HEAD_WIDTH + 2] === null) throw damaged(head, number)
  const ream = reamOf(row, HEAD_WIDTH + 2)
  const slot = position % REAM_SIZE
  if (isGone(ream.gone, slot)) throw damaged(head, number)
  return itemAt(ream, indexOfSlot(ream.gone, slot))
}

/** How many reams are full and sealed; the tail is the one after them. */
export function sealedReams({ next }: Pick<Head, 'next'>): number {
  return Math.floor(next / REAM_SIZE)
}

function damaged(head: Head, ream: number): StoreError {
  return new StoreError(
    'corrupt',
    `Ream ${ream} of the collection "${head.name}" is missing or does not agree with its counts. \`reams verify\` tells more; restore the store from a backup.`,
  )
}
