/** Reading pages, items and whole collections. Everything that one call answers comes from one snapshot. */

import { damagedCollection } from '../../collection-rules.ts'
import {
  findParts,
  type HoleCount,
  indexOfSlot,
  isGone,
  REAM_SIZE,
  type ReadHoles,
  sealedReams,
} from '../../positions.ts'
import { cutPart, deflatedSegment, itemAt, joinCuts, joinItems, rawSegment } from '../../ream.ts'
import type { Head, PageRead, Segment } from '../../store.ts'
import type { StoreError } from '../../store-error.ts'
import { inCollection, isDamage } from '../rows/explain-error.ts'
import { HEAD, HEAD_WIDTH, headOf, readHead } from '../rows/head.ts'
import type { Row, Rows } from '../rows/rows.ts'
import { findKey, REAM, readHoles, readReam, readReams, readTail, readTailItem, reamOf } from '../rows/stored-ream.ts'

const HEAD_AND_REAM = `
  SELECT ${HEAD.select(1, 'h')}, ${REAM.select(2, 'r')} FROM head h
  LEFT JOIN ream r ON r.collection_id = h.id AND r.generation = h.generation AND r.number = ?
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
  const guessed = guessPage(rows, name, page, isPublicOnly)
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
    if (found === undefined) throw wrongHoles(head)
    const segments = found.parts.map((part) => {
      const segment = readSegment(rows, head, part.ream)
      if (segment.count !== part.count) throw wrongHoles(head)
      return cutPart(segment, part)
    })
    return { head, page: found.page, segments: joinCuts(segments) }
  })
}

/** Each stretch of blocks is read once, and nothing where nothing is gone. */
function readHolesOnce(rows: Rows, head: Head): ReadHoles {
  const known = new Map<string, readonly HoleCount[]>()
  return (level, from, to) => {
    if (head.live === head.next) return []
    const counts = known.get(`${level} ${from}`) ?? [...readHoles(rows, head, level, from, to)]
    known.set(`${level} ${from}`, counts)
    return counts
  }
}

/** All items in order: every ream that is not empty, then the tail. */
export function* readSegments(rows: Rows, head: Head): Generator<Segment> {
  const sealed = sealedReams(head)
  let expected = 0
  let count = 0
  for (const ream of readReams(rows, head, sealed)) {
    if (ream.number !== expected++) throw missingReam(head, expected - 1)
    count += ream.count
    if (ream.count > 0) yield deflatedSegment(ream)
  }
  if (expected !== sealed) throw missingReam(head, expected)
  const tail = tailSegment(rows, head)
  count += tail.count
  if (count !== head.live) throw damagedCollection(head.name, `It has ${count} items in the place of ${head.live}.`)
  if (tail.count > 0) yield tail
}

/** One ream, sealed or still the tail. */
function readSegment(rows: Rows, head: Head, number: number): Segment {
  const sealed = sealedReams(head)
  if (number === sealed) return tailSegment(rows, head)
  const ream = readReam(rows, head, number)
  if (ream === undefined) throw missingReam(head, number)
  return deflatedSegment(ream)
}

function tailSegment(rows: Rows, head: Head): Segment {
  const items = readTail(rows, head, sealedReams(head), head.next)
  return rawSegment(joinItems(items.map(({ item }) => item)), items.length)
}

/** The text of the item with that key. To be called in a snapshot. */
export function readItem(rows: Rows, head: Head, key: string): Uint8Array | undefined {
  const position = readPosition(rows, head, key)
  if (position === undefined) return undefined
  const number = Math.floor(position / REAM_SIZE)
  if (number === sealedReams(head)) return Buffer.from(readTailItem(rows, head, position))
  const ream = readReam(rows, head, number)
  const slot = position % REAM_SIZE
  if (ream === undefined) throw missingReam(head, number)
  if (isGone(ream.gone, slot)) throw damagedCollection(head.name, `The item at position ${position} is missing.`)
  return itemAt(ream, indexOfSlot(ream.gone, slot))
}

/** Where the item with that key lies. A position from `next` on belongs to a load that is not finished. */
function readPosition(rows: Rows, head: Head, key: string): number | undefined {
  const position = findKey(rows, head, key)
  return position !== undefined && position < head.next ? position : undefined
}

function missingReam({ name }: Head, number: number): StoreError {
  return damagedCollection(name, `Ream ${number} is missing.`)
}

function wrongHoles({ name }: Head): StoreError {
  return damagedCollection(name, 'Its hole counts do not add up.')
}
