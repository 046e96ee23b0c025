/** What is remembered of collections between reads: the last head, hole counts, and the tail. All of it is checked when it is used. */

import { LRUCache } from 'lru-cache'
import type { StateTag } from '../contract/state-tag.ts'
import { blocksIn, findParts, type HoleCount, type PageParts } from './positions.ts'
import type { BlockRange } from './rows.ts'
import { keptSegment } from './segment.ts'
import type { Segment } from './store.ts'
import type { StoredHead } from './tables.ts'

const MAX_HEADS = 10_000

/** Of up to 256 hole counts each. */
const MAX_BLOCK_RANGES = 2_000

/** A larger tail is read each time. */
const MAX_TAIL_BYTES = 64 * 1024
const MAX_TAILS_BYTES = 4 * 1024 * 1024

interface Counts {
  readonly next: number
  readonly live: number
}

export class ReadCache {
  readonly #heads = new LRUCache<string, StoredHead>({ max: MAX_HEADS })
  readonly #holes = new LRUCache<string, readonly HoleCount[]>({ max: MAX_BLOCK_RANGES })
  readonly #tails = new LRUCache<string, Segment>({
    maxSize: MAX_TAILS_BYTES,
    sizeCalculation: ({ rawLength }) => Math.max(1, rawLength),
  })

  head(name: string): StoredHead | undefined {
    return this.#heads.get(name)
  }

  /** Takes a head that was just read; undefined if there is none. */
  sawHead(name: string, head: StoredHead | undefined): void {
    if (head === undefined) this.#heads.delete(name)
    else this.#heads.set(name, head)
  }

  /** Whether that state was the last one when the head was read. */
  isCurrent(name: string, { commitId }: StateTag): boolean {
    return this.#heads.get(name)?.commitId === commitId
  }

  /** The hole counts of a collection now: they stay the same until something is deleted. */
  holes(head: StoredHead): Holes {
    return new Holes(this.#holes, () => keyOfHoles(head), head)
  }

  /** Those of an earlier state. */
  pastHoles(state: Counts & { readonly commitId: string }): Holes {
    return new Holes(this.#holes, () => `past ${state.commitId}`, state)
  }

  /** Drops what is known of the holes of a collection, because it does not add up. */
  evictHoles(head: StoredHead): void {
    const start = `${keyOfHoles(head)} `
    for (const key of this.#holes.keys()) if (key.startsWith(start)) this.#holes.delete(key)
  }

  tail({ id, commitId }: StoredHead): Segment | undefined {
    return this.#tails.get(`${id} ${commitId}`)
  }

  /** Returns the tail in a form that can be used again. */
  keepTail({ id, commitId }: StoredHead, tail: Segment): Segment {
    if (tail.rawLength > MAX_TAIL_BYTES) return tail
    const kept = keptSegment(tail)
    this.#tails.set(`${id} ${commitId}`, kept)
    return kept
  }
}

function keyOfHoles({ id, generation, fullPagesId }: StoredHead): string {
  return `${id} ${generation} ${fullPagesId}`
}

/** The hole counts of one state of a collection, as far as they are known. */
export class Holes {
  readonly #known: LRUCache<string, readonly HoleCount[]>
  readonly #key: () => string
  readonly #counts: Counts
  /** What it did not know when it was asked last. */
  missing: BlockRange | undefined

  constructor(known: LRUCache<string, readonly HoleCount[]>, key: () => string, counts: Counts) {
    this.#known = known
    this.#key = key
    this.#counts = counts
  }

  /** The parts of a page; undefined where something is `missing`, or does not add up. */
  findParts(page: number): PageParts | undefined {
    this.missing = undefined
    return findParts(this.#counts, page, (level, from, to) => this.#read({ level, from, to }))
  }

  add(range: BlockRange, counts: readonly HoleCount[]): void {
    this.#known.set(this.#keyOf(range), counts)
  }

  /** See `ReadHoles`. Nothing for a range that is not known: where there should be something, the sums tell. */
  #read(range: BlockRange): readonly HoleCount[] {
    const { next, live } = this.#counts
    if (live === next) return []
    // Where all is in one block, the counts of the collection tell.
    if (blocksIn(next, range.level) === 1) return [{ level: range.level, block: 0, gone: next - live }]
    const known = this.#known.get(this.#keyOf(range))
    if (known === undefined) this.missing = range
    return known ?? []
  }

  #keyOf({ level, from }: BlockRange): string {
    return `${this.#key()} ${level} ${from}`
  }
}
