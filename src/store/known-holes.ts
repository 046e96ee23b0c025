/** The hole counts that are known of one state of a collection, stretch by stretch. Pure. */

import { blocksIn, findParts, type HoleCount, type PageParts } from './positions.ts'

/** The blocks `from` to `to` of a level. */
export interface HoleStretch {
  readonly level: number
  readonly from: number
  readonly to: number
}

interface Counts {
  readonly next: number
  readonly live: number
}

/** Stretches that are remembered before all are forgotten: of some kilobytes each. */
const MAX_STRETCHES = 200

export class KnownHoles {
  readonly #known = new Map<string, readonly HoleCount[]>()
  /** What it did not know when it was asked last. */
  missing: HoleStretch | undefined

  /** The parts of a page; undefined where something is `missing`, or does not add up. */
  findParts(counts: Counts, page: number): PageParts | undefined {
    this.missing = undefined
    return findParts(counts, page, (level, from, to) => this.#read(counts, level, from, to))
  }

  /** See `ReadHoles`. Nothing for a stretch that is not known: where there should be something, the sums tell. */
  #read({ next, live }: Counts, level: number, from: number, to: number): readonly HoleCount[] {
    if (live === next) return []
    // Where all lies in one block, the counts of the collection tell.
    if (blocksIn(next, level) === 1) return [{ level, block: 0, gone: next - live }]
    const known = this.#known.get(`${level} ${from}`)
    if (known === undefined) this.missing = { level, from, to }
    return known ?? []
  }

  add({ level, from }: HoleStretch, counts: readonly HoleCount[]): void {
    if (this.#known.size >= MAX_STRETCHES) this.#known.clear()
    this.#known.set(`${level} ${from}`, counts)
  }
}
