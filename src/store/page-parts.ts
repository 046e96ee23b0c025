/** What a page is made of, as a head and the hole counts tell. Pure. */

import { effectivePage, pageRange } from '../contract/page.ts'
import { locate, REAM_SIZE, type ReadHoles } from './positions.ts'
import { cutItems, rawSegment } from './ream.ts'
import type { Head, Segment } from './store.ts'

/** A ream, or the tail, and which of its items belong to the page. */
interface Part {
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
export function findParts({ next, live }: Head, requested: number, readHoles: ReadHoles): PageParts | undefined {
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

/** The items of a part. The segment has as many as the part says. */
export function cutPart(segment: Segment, { count, from, take }: Part): Segment {
  return take === count ? segment : rawSegment(cutItems(segment.raw(), from, from + take), take)
}
