/** Positions: the reams they lie in, which of them are gone, and the way from the rank of an item to its ream. Pure. */

import { effectivePage, PAGE_SIZE, pageRange } from '../contract/page.ts'

/** Positions in a ream: ream k holds positions 500·k to 500·k+499, so that a ream without holes is a page. */
export const REAM_SIZE = PAGE_SIZE

/** Beyond every position that an item can have. */
export const MAX_POSITION = Number.MAX_SAFE_INTEGER

/** Positions in a quire, at most: large items have quires of fewer. So many at a time leave the tail. */
export const QUIRE_SIZE = 125

/** Where the tail begins: the quires before it have all their positions, and lie in reams. The last ream may be short. */
export function tailStart({ next }: { readonly next: number }): number {
  return next - (next % QUIRE_SIZE)
}

/** How many reams there are, the last one perhaps with some of its quires only. */
export function reamsIn(head: { readonly next: number }): number {
  return Math.ceil(tailStart(head) / REAM_SIZE)
}

/** Blocks of one level in a block of the level above. */
const FANOUT = 256

/** Level 0 counts what is gone in each ream, level 1 in each 256 reams, level 2 in each 65,536. */
const TOP_LEVEL = 2

/** The blocks `from` to `to` of a level that have something gone, in order. */
export type ReadHoles = (level: number, from: number, to: number) => Iterable<HoleCount>

/** The blocks that count a ream's holes: one a level. */
export function blocksOf(ream: number): { level: number; block: number }[] {
  return Array.from({ length: TOP_LEVEL + 1 }, (_, level) => ({ level, block: Math.floor(ream / FANOUT ** level) }))
}

/** How many blocks of a level have positions before `next`. */
export function blocksIn(next: number, level: number): number {
  return Math.ceil(next / (REAM_SIZE * FANOUT ** level))
}

/** How many positions are gone in a block of a level. */
export interface HoleCount {
  readonly level: number
  readonly block: number
  readonly gone: number
}

/** From what is gone in each ream to one count a block: those of several reams add up in the levels above. */
export function holeCounts(goneByReam: ReadonlyMap<number, number>): HoleCount[] {
  const counts = new Map<string, HoleCount>()
  for (const [ream, gone] of goneByReam)
    for (const { level, block } of blocksOf(ream)) {
      const place = `${level} ${block}`
      counts.set(place, { level, block, gone: (counts.get(place)?.gone ?? 0) + gone })
    }
  return [...counts.values()]
}

/**
 * Finds the item of rank `rank` (0 is the first item of the collection): the ream it is in, how many items of that ream
 * come before it, and how many positions of it are gone. One block a level is read, so the cost is the same at every
 * depth. `allGone` is how many positions of the collection are gone. Undefined where the counts of a level do not add up to that of the block above them.
 */
export function locate(
  rank: number,
  allGone: number,
  readHoles: ReadHoles,
): { ream: number; offset: number; gone: number } | undefined {
  let goneBefore = 0
  let expected = allGone
  let from = 0
  let to = MAX_POSITION
  let target = 0
  for (let level = TOP_LEVEL; level >= 0; level--) {
    const size = REAM_SIZE * FANOUT ** level
    const counts = [...readHoles(level, from, to)]
    if (counts.reduce((sum, { gone }) => sum + gone, 0) !== expected) return undefined
    for (const { block, gone } of counts) {
      // A block is passed while all of its items come before the wanted one.
      if ((block + 1) * size - goneBefore - gone > rank) break
      goneBefore += gone
    }
    target = Math.floor((rank + goneBefore) / size)
    expected = counts.find(({ block }) => block === target)?.gone ?? 0
    from = target * FANOUT
    to = from + FANOUT - 1
  }
  return { ream: target, offset: rank + goneBefore - target * REAM_SIZE, gone: expected }
}

/** A ream, the last one together with the tail, and which of its items belong to the page. */
export interface Part {
  readonly ream: number
  readonly count: number
  readonly from: number
  readonly take: number
}

export interface PageParts {
  readonly page: number
  readonly parts: readonly Part[]
}

/** The page that answers a request for `requested`. Undefined where the hole counts are not known, or do not add up. */
export function findParts(
  { next, live }: { readonly next: number; readonly live: number },
  requested: number,
  readHoles: ReadHoles,
): PageParts | undefined {
  const page = effectivePage(requested, live)
  const { start, end } = pageRange(page, live)
  const parts: Part[] = []
  for (let rank = start; rank < end; ) {
    const found = locate(rank, next - live, readHoles)
    if (found === undefined) return undefined
    const { ream, offset, gone } = found
    const count = Math.min(REAM_SIZE, next - ream * REAM_SIZE) - gone
    const take = Math.min(count - offset, end - rank)
    if (take <= 0) return undefined
    parts.push({ ream, count, from: offset, take })
    rank += take
  }
  return { page, parts }
}

export type GoneMap = Uint8Array | null

const MAP_BYTES = Math.ceil(REAM_SIZE / 8)

export function isGone(map: GoneMap, slot: number): boolean {
  return map !== null && ((map[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
}

/** A copy of the map with these slots marked as gone. */
export function withGone(map: GoneMap, slots: Iterable<number>): GoneMap {
  let copy = map
  for (const slot of slots) {
    if (copy === map) copy = map === null ? new Uint8Array(MAP_BYTES) : Uint8Array.from(map)
    if (copy !== null) copy[slot >> 3] = (copy[slot >> 3] ?? 0) | (1 << (slot & 7))
  }
  return copy
}

export function countGone(map: GoneMap): number {
  let count = 0
  for (let slot = 0; slot < REAM_SIZE; slot++) if (isGone(map, slot)) count++
  return count
}

/** The slots from `start` up to `end` that still hold an item, in order: the i-th item stands in the i-th of them. */
export function liveSlots(map: GoneMap, start: number, end: number): number[] {
  const slots: number[] = []
  for (let slot = start; slot < end; slot++) if (!isGone(map, slot)) slots.push(slot)
  return slots
}
