/** Reads pages, items and whole collections as they are now. Everything that one call returns comes from one snapshot. */

import { damagedCollection, missingCollection } from './collection-rules.ts'
import { joinItems } from './item-text.ts'
import { isGone, type PageParts, REAM_SIZE, reamsIn, tailStart } from './positions.ts'
import type { Holes, ReadCache } from './read-cache.ts'
import { itemAt } from './ream.ts'
import { type FoundItem, type FoundParts, query, type Rows, type Steps, type WantedParts } from './rows.ts'
import { cutPart, deflatedSegment, joinCuts, rawSegment } from './segment.ts'
import type { Head, PageRead, Segment } from './store.ts'
import type { StoreError } from './store-error.ts'
import { readHoles, reamFrom, tailItemFrom } from './stored-items.ts'
import { publicHead, REAM, type StoredHead } from './tables.ts'

/** Writes came in between each time: the page has to be read in a snapshot. */
export const MOVED = Symbol('moved')

/** Before a snapshot is taken: while others write, the page may be elsewhere by then. */
const MAX_TRIES = 6

/**
 * Reads the page that answers a request for `requested`, from where it was when the collection was read last. The head that comes along
 * tells whether it is still there. In most cases this takes one query.
 */
export function* readPage(
  name: string,
  requested: number,
  cache: ReadCache,
  isPublicOnly: boolean,
): Steps<PageRead | undefined | typeof MOVED> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const known = cache.head(name)
    const holes = known && cache.holes(known)
    const guess = known?.isPaginated === false ? undefined : holes?.findParts(requested)
    if (known?.isPaginated && holes !== undefined && guess === undefined) {
      if (holes.missing === undefined) return MOVED
      if (!(yield* readMissing(known, holes, cache))) return undefined
      continue
    }
    const found = yield* query((rows) => rows.readParts(name, wantedOf(known, guess, requested, cache), isPublicOnly))
    cache.sawHead(name, found?.head)
    if (found === undefined) return undefined
    const read = found.head.isPaginated ? pageOf(found, requested, cache) : wholeOf(found)
    if (read !== undefined) return read
  }
  return MOVED
}

/** The same in a snapshot: what does not fit together is damaged. */
export function* readPageOf(head: StoredHead, requested: number, cache: ReadCache): Steps<PageRead> {
  const holes = cache.holes(head)
  let parts = holes.findParts(requested)
  while (head.isPaginated && parts === undefined && holes.missing !== undefined) {
    const { level, from, to } = holes.missing
    holes.add(holes.missing, yield* readHoles(head, level, from, to))
    parts = holes.findParts(requested)
  }
  if (head.isPaginated && parts === undefined) throw wrongHoles(head, cache)
  const wanted = wantedOf(head, parts, requested, cache)
  const found = yield* query((rows) => rows.readPartsOf(head, wanted))
  const read = head.isPaginated ? pageOf(found, requested, cache) : wholeOf(found)
  if (read !== undefined) return read
  const missing = wanted.reams.find((number) => !found.reams.has(number))
  throw missing === undefined ? wrongHoles(head, cache) : missingReam(head, missing)
}

function wrongHoles(head: StoredHead, cache: ReadCache): StoreError {
  cache.evictHoles(head)
  return damagedCollection(head.name, 'Its hole counts do not add up.')
}

/** Returns false if the collection is gone. */
function* readMissing(known: StoredHead, holes: Holes, cache: ReadCache): Steps<boolean> {
  const range = holes.missing ?? { level: 0, from: 0, to: 0 }
  const found = yield* query((rows) => rows.readHoleBlocks(known, range))
  cache.sawHead(known.name, found?.head)
  if (found === undefined) return false
  const { generationId, fullPagesId } = found.head
  if (generationId === known.generationId && fullPagesId === known.fullPagesId) holes.add(range, found.counts)
  return true
}

/** What to ask for: all of an unpaginated collection, the parts of a page, or, without a head, what the page has without holes. */
function wantedOf(
  head: StoredHead | undefined,
  guess: PageParts | undefined,
  requested: number,
  cache: ReadCache,
): WantedParts {
  if (head?.isPaginated === false)
    return { reams: Array.from({ length: reamsIn(head) }, (_, number) => number), hasTail: tailStart(head) < head.next }
  if (head === undefined || guess === undefined) return { reams: [requested - 1], hasTail: false }
  const start = tailStart(head)
  const reams = guess.parts.map(({ ream }) => ream)
  const hasTail = start < head.next && reams.includes(reamOfTail(head)) && cache.tail(head) === undefined
  return { reams: reams.filter((ream) => ream * REAM_SIZE < start), hasTail }
}

/** The ream that the tail continues, or begins. */
function reamOfTail(head: StoredHead): number {
  return Math.floor(tailStart(head) / REAM_SIZE)
}

/** Undefined if something is missing, or has another count than it should. */
function pageOf(found: FoundParts, requested: number, cache: ReadCache): PageRead | undefined {
  const { head } = found
  const where = cache.holes(head).findParts(requested)
  if (where === undefined) return undefined
  const segments: Segment[] = []
  for (const part of where.parts) {
    const ream = found.reams.get(part.ream)
    const tail = part.ream === reamOfTail(head) ? tailOf(found, cache) : undefined
    if ((ream?.count ?? 0) + (tail?.count ?? 0) !== part.count) return undefined
    segments.push(...cutPart(ream, tail, part))
  }
  return { head: publicHead(head), page: where.page, segments: joinCuts(segments) }
}

/** All items of an unpaginated collection. Undefined if something is missing. */
function wholeOf({ head, reams, tail }: FoundParts): PageRead | undefined {
  const segments: Segment[] = []
  for (let number = 0; number < reamsIn(head); number++) {
    const ream = reams.get(number)
    if (ream === undefined) return undefined
    if (ream.count > 0) segments.push(deflatedSegment(ream))
  }
  if (tail !== undefined && tail.count > 0) segments.push(rawSegment(tail.raw, tail.count))
  const count = segments.reduce((sum, segment) => sum + segment.count, 0)
  return count === head.live ? { head: publicHead(head), page: 0, segments } : undefined
}

function tailOf({ head, tail }: FoundParts, cache: ReadCache): Segment | undefined {
  if (tail === undefined) return cache.tail(head)
  return tail.count === 0 ? undefined : cache.keepTail(head, rawSegment(tail.raw, tail.count))
}

/** The text of the item. */
export function textOf(head: Head, { position, item, ream }: FoundItem): Uint8Array {
  if (position >= tailStart(head)) {
    if (item === undefined)
      throw damagedCollection(head.name, `The item at position ${position}, in the tail, is missing.`)
    return typeof item === 'string' ? Buffer.from(item) : item
  }
  const slot = position % REAM_SIZE
  if (ream === undefined) throw missingReam(head, Math.floor(position / REAM_SIZE))
  if (isGone(ream.gone, slot)) throw damagedCollection(head.name, `The item at position ${position} is missing.`)
  return itemAt(ream, slot)
}

function missingReam({ name }: Head, number: number): StoreError {
  return damagedCollection(name, `Ream ${number} is missing.`)
}

/** All items in order: every ream that is not empty, then the tail. To be called in a snapshot. */
export async function* readItems(
  rows: Rows,
  name: string,
  reamsAtATime: number,
  onHead: (head: Head) => void = () => {},
): AsyncGenerator<Segment> {
  const head = await rows.readHead(name)
  if (head === undefined) throw missingCollection(name)
  onHead(publicHead(head))
  const reams = reamsIn(head)
  let [expected, count] = [0, 0]
  while (expected < reams) {
    const found = await rows.scan(REAM, head, { from: [expected], to: [reams], limit: reamsAtATime })
    if (found.length === 0) throw missingReam(head, expected)
    for (const row of found) {
      const ream = reamFrom(row)
      if (ream.number !== expected) throw missingReam(head, expected)
      expected++
      count += ream.count
      if (ream.count > 0) yield deflatedSegment(ream)
    }
  }
  const items = (await rows.wholeTail(head)).map((row) => tailItemFrom(row).item)
  if (count + items.length !== head.live)
    throw damagedCollection(head.name, `It has ${count + items.length} items instead of ${head.live}.`)
  if (items.length > 0) yield rawSegment(joinItems(items), items.length)
}
