/** Reading pages, items and whole collections. Everything that one call answers comes from one snapshot. */

import { damagedCollection } from '../../collection-rules.ts'
import { joinItems } from '../../item-text.ts'
import { findParts, isGone, type Part, REAM_SIZE, type ReadHoles, reamsIn, tailStart } from '../../positions.ts'
import { itemAt, type SealedReam } from '../../ream.ts'
import { cutPart, deflatedSegment, joinCuts, rawSegment } from '../../segment.ts'
import type { Head, PageRead, Segment } from '../../store.ts'
import type { StoreError } from '../../store-error.ts'
import { inCollection, isDamage } from '../rows/explain-error.ts'
import { HEAD, HEAD_WIDTH, headOf, readHead } from '../rows/head.ts'
import { findKey } from '../rows/keys.ts'
import type { Row, Rows } from '../rows/rows.ts'
import { REAM, readHoles, readReams, readTail, readTailItem, reamOf, requireReam } from '../rows/stored-ream.ts'
import { forget, hadHoles, knownHoles, knownTail } from './remembered.ts'

const HEAD_AND_REAM = `
  SELECT ${HEAD.select(1, 'h')}, ${REAM.select(2, 'r')} FROM head h
  LEFT JOIN ream r ON r.collection_id = h.id AND r.generation = h.generation AND r.number = ?
    AND h.live = h.next AND (r.number + 1) * ${REAM_SIZE} <= h.next
  WHERE h.name = ? AND (h.private = 0 OR ?)`

/**
 * The common page in one statement, which is one snapshot: the guess is that the collection has no holes, so that page p
 * is ream p − 1. The head that came with it tells whether the guess was right; if not, undefined.
 */
function guessPage(rows: Rows, name: string, page: number, isPublicOnly: boolean): PageRead | undefined {
  const row = tryGuess(rows, name, page, isPublicOnly)
  if (row === undefined) return undefined
  const head = headOf(rows, name, row)
  const isRight = head.isPaginated && head.live === head.next && page * REAM_SIZE <= head.next
  if (!isRight || row[HEAD_WIDTH] === null) return undefined
  return { head, page, segments: [deflatedSegment(reamOf(rows, head, row, HEAD_WIDTH))] }
}

/** Where something is damaged, the long way tells in which collection. */
function tryGuess(rows: Rows, name: string, page: number, isPublicOnly: boolean): Row | undefined {
  try {
    return rows.get(HEAD_AND_REAM, page - 1, name, isPublicOnly ? 0 : 1)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

/** The page that answers a request for `page`. */
export function readPage(rows: Rows, name: string, page: number, isPublicOnly: boolean): PageRead | undefined {
  const guessed = hadHoles(rows, name) ? undefined : guessPage(rows, name, page, isPublicOnly)
  if (guessed !== undefined) return guessed
  return rows.inSnapshot(() => {
    const head = readHead(rows, name, isPublicOnly)
    return head && findPage(rows, head, page)
  })
}

/** Any page of any collection. To be called in the snapshot of its head. */
export function findPage(rows: Rows, head: Head, requested: number): PageRead {
  return inCollection(head.name, () => {
    if (!head.isPaginated) return { head, page: 0, segments: [...readSegments(rows, head)] }
    const found = findParts(head, requested, readHolesOnce(rows, head))
    if (found === undefined) throw wrongHoles(rows, head)
    const segments = found.parts.flatMap((part) => readPart(rows, head, part))
    return { head, page: found.page, segments: joinCuts(segments) }
  })
}

/** Each stretch of blocks is read once until something is deleted, and nothing where nothing is gone. */
function readHolesOnce(rows: Rows, head: Head): ReadHoles {
  if (head.live === head.next) {
    // It has been replaced since.
    if (hadHoles(rows, head.name)) forget(rows, head.name)
    return () => []
  }
  const known = knownHoles(rows, head)
  return (level, from, to) => {
    const counts = known.get(`${level} ${from}`) ?? [...readHoles(rows, head, level, from, to)]
    known.set(`${level} ${from}`, counts)
    return counts
  }
}

/** All items in order: every ream that is not empty, then the tail. */
export function* readSegments(rows: Rows, head: Head): Generator<Segment> {
  const reams = reamsIn(head)
  let expected = 0
  let count = 0
  let last: SealedReam | undefined
  for (const ream of readReams(rows, head, reams)) {
    if (ream.number !== expected++) throw missingReam(head, expected - 1)
    count += ream.count
    last = ream
    if (ream.count > 0) yield deflatedSegment(ream)
  }
  if (expected !== reams) throw missingReam(head, expected)
  const tail = tailSegment(rows, head, tailStart(head) % REAM_SIZE === 0 ? undefined : last)
  count += tail.count
  if (count !== head.live) throw damagedCollection(head.name, `It has ${count} items instead of ${head.live}.`)
  if (tail.count > 0) yield tail
}

/** What a page has of a ream, and of the tail if that goes on with this ream. */
function readPart(rows: Rows, head: Head, part: Part): Segment[] {
  const start = part.ream * REAM_SIZE
  const ream = start < tailStart(head) ? requireReam(rows, head, part.ream) : undefined
  const tail = start + REAM_SIZE > head.next ? tailSegment(rows, head, ream) : undefined
  if ((ream?.count ?? 0) + (tail?.count ?? 0) !== part.count) throw wrongHoles(rows, head)
  return cutPart(ream, tail, part)
}

/** `begun`: the ream that the tail goes on with. */
function tailSegment(rows: Rows, head: Head, begun: SealedReam | undefined): Segment {
  return knownTail(rows, head, () => {
    const items = readTail(rows, head, head, begun)
    return rawSegment(joinItems(items.map(({ item }) => item)), items.length)
  })
}

/** The text of the item with that key. To be called in a snapshot. */
export function readItem(rows: Rows, head: Head, key: string): Uint8Array | undefined {
  const position = readPosition(rows, head, key)
  if (position === undefined) return undefined
  if (position >= tailStart(head)) return Buffer.from(readTailItem(rows, head, position))
  const ream = requireReam(rows, head, Math.floor(position / REAM_SIZE))
  const slot = position % REAM_SIZE
  if (isGone(ream.gone, slot)) throw damagedCollection(head.name, `The item at position ${position} is missing.`)
  return itemAt(ream, slot)
}

/** Where the item with that key lies. A position from `next` on belongs to a load that is not finished. */
function readPosition(rows: Rows, head: Head, key: string): number | undefined {
  const position = findKey(rows, head, key)
  return position !== undefined && position < head.next ? position : undefined
}

function missingReam({ name }: Head, number: number): StoreError {
  return damagedCollection(name, `Ream ${number} is missing.`)
}

function wrongHoles(rows: Rows, { name }: Head): StoreError {
  forget(rows, name)
  return damagedCollection(name, 'Its hole counts do not add up.')
}
