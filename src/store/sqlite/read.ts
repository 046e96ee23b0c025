/** Reading pages, items and whole collections. Everything that one call answers comes from one snapshot. */

import { effectivePage, pageRange } from '../../contract/page.ts'
import { indexOfSlot, isGone } from '../gone-map.ts'
import { locate, type ReadHoles } from '../rank.ts'
import { cutItems, deflatedSegment, itemAt, joinCuts, REAM_SIZE, rawSegment } from '../ream.ts'
import type { Head, PageRead, Segment } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { HEAD_COLUMNS, HEAD_TABLES, HEAD_WIDTH, headOf, readHead } from './head.ts'
import type { Rows } from './rows.ts'
import { BYTES_COLUMNS, bytesOf, readReam, readReams, readTailItem, readTailText } from './stored-ream.ts'

const HEAD_AND_REAM = `
  SELECT ${HEAD_COLUMNS}, ${BYTES_COLUMNS} FROM ${HEAD_TABLES}
  LEFT JOIN ream r ON r.collection_id = c.id AND r.generation = h.generation AND r.number = ?
  WHERE c.name = ? AND (c.private = 0 OR ?)`
const HOLES = `
  SELECT block, gone FROM hole
  WHERE collection_id = ? AND generation = ? AND level = ? AND block >= ? AND block <= ? ORDER BY block`
const POSITION_OF_KEY = 'SELECT position FROM key WHERE collection_id = ? AND generation = ? AND key = ?'

/** Runs `read` in one snapshot. */
export function inSnapshot<T>(rows: Rows, read: () => T): T {
  rows.run('BEGIN')
  try {
    const result = read()
    rows.run('COMMIT')
    return result
  } catch (error) {
    if (rows.isInTransaction) rows.run('ROLLBACK')
    throw error
  }
}

/**
 * The common page in one statement, which is one snapshot: the guess is that the collection has no holes, so that page p
 * is ream p − 1. The head that came with it tells whether the guess was right; if not, undefined.
 */
function guessPage(rows: Rows, name: string, page: number, isPublicOnly: boolean): PageRead | undefined {
  const row = rows.get(HEAD_AND_REAM, page - 1, name, isPublicOnly ? 0 : 1)
  if (row === undefined) return undefined
  const head = headOf(name, row)
  const isRight = head.isPaginated && head.live === head.next && page * REAM_SIZE <= head.next
  if (!isRight || row[HEAD_WIDTH] === null) return undefined
  return { head, page, segments: [deflatedSegment(bytesOf(row, HEAD_WIDTH))] }
}

/** The page that answers a request for `page`. */
export function readPage(rows: Rows, name: string, page: number, isPublicOnly: boolean): PageRead | undefined {
  const guessed = guessPage(rows, name, page, isPublicOnly)
  if (guessed !== undefined) return guessed
  return inSnapshot(rows, () => {
    const head = readHead(rows, name)
    return head === undefined || (isPublicOnly && head.isPrivate) ? undefined : findPage(rows, head, page)
  })
}

/** Any page of any collection. To be called in the snapshot of its head. */
export function findPage(rows: Rows, head: Head, requested: number): PageRead {
  if (!head.isPaginated) return { head, page: 0, segments: [...readSegments(rows, head)] }
  const page = effectivePage(requested, head.live)
  const { start, end } = pageRange(page, head.live)
  return { head, page, segments: joinCuts(cutSegments(rows, head, start, end)) }
}

/** All items in order: every ream that is not empty, then the tail. */
export function* readSegments(rows: Rows, head: Head): Generator<Segment> {
  const sealed = sealedReams(head)
  let expected = 0
  for (const ream of readReams(rows, head, sealed)) {
    if (ream.number !== expected++) throw damaged(head, expected - 1)
    if (ream.count > 0) yield deflatedSegment(ream)
  }
  if (expected !== sealed) throw damaged(head, expected)
  const tail = readTailText(rows, head, sealed * REAM_SIZE, head.next)
  if (tail.count > 0) yield rawSegment(tail.raw, tail.count)
}

/** The items of rank `start` up to but not including `end`, from as many reams as it takes. */
function* cutSegments(rows: Rows, head: Head, start: number, end: number): Generator<Segment> {
  let place = locateRank(rows, head, start)
  for (let rank = start; rank < end; ) {
    const segment = readSegment(rows, head, place.ream)
    const available = segment.count - place.offset
    if (available <= 0) {
      // Everything in this ream is gone. The counts lead across any stretch of such reams at once.
      const following = locateRank(rows, head, rank)
      if (following.ream <= place.ream) throw damaged(head, place.ream)
      place = following
      continue
    }
    const take = Math.min(available, end - rank)
    yield take === segment.count
      ? segment
      : rawSegment(cutItems(segment.raw(), place.offset, place.offset + take), take)
    rank += take
    place = { ream: place.ream + 1, offset: 0 }
  }
}

/** One ream, sealed or still the tail. */
function readSegment(rows: Rows, head: Head, number: number): Segment {
  const sealed = sealedReams(head)
  if (number > sealed) throw damaged(head, number)
  if (number === sealed) {
    const tail = readTailText(rows, head, sealed * REAM_SIZE, head.next)
    return rawSegment(tail.raw, tail.count)
  }
  const ream = readReam(rows, head, number)
  if (ream === undefined) throw damaged(head, number)
  return deflatedSegment(ream)
}

function locateRank(rows: Rows, head: Head, rank: number): { ream: number; offset: number } {
  if (head.live === head.next) return { ream: Math.floor(rank / REAM_SIZE), offset: rank % REAM_SIZE }
  return locate(rank, holesReader(rows, head))
}

function holesReader(rows: Rows, head: Head): ReadHoles {
  return (level, from, to) =>
    rows.each(HOLES, head.id, head.generation, level, from, to) as Iterable<readonly [number, number]>
}

/** The text of the item with that key. To be called in a snapshot. */
export function readItem(rows: Rows, head: Head, key: string): Uint8Array | undefined {
  const position = readPosition(rows, head, key)
  if (position === undefined) return undefined
  const number = Math.floor(position / REAM_SIZE)
  if (number === sealedReams(head)) {
    const item = readTailItem(rows, head, position)
    return item === undefined ? undefined : Buffer.from(item)
  }
  const ream = readReam(rows, head, number)
  const slot = position % REAM_SIZE
  if (ream === undefined || isGone(ream.gone, slot)) throw damaged(head, number)
  return itemAt(ream, indexOfSlot(ream.gone, slot))
}

/** Where the item with that key lies. A position from `next` on belongs to a load that is not finished. */
export function readPosition(rows: Rows, head: Head, key: string): number | undefined {
  // SQLite would look for U+FFFD in the place of half a surrogate pair, and no key holds such a half.
  if (!key.isWellFormed()) return undefined
  const position = rows.get(POSITION_OF_KEY, head.id, head.generation, key)?.[0] as number | undefined
  return position !== undefined && position < head.next ? position : undefined
}

/** How many reams are full and sealed; the tail is the one after them. */
export function sealedReams(head: Head): number {
  return Math.floor(head.next / REAM_SIZE)
}

function damaged(head: Head, ream: number): StoreError {
  return new StoreError(
    'corrupt',
    `Ream ${ream} of the collection "${head.name}" is missing or does not agree with its counts. \`reams verify\` tells more; restore the store from a backup.`,
  )
}
