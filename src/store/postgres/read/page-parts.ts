/** What a page is made of, as a head and the hole counts tell, and the page from the rows that hold it. */

import { effectivePage, pageRange } from '../../../contract/page.ts'
import { blocksIn, type HoleCount, locate, REAM_SIZE, sealedReams } from '../../positions.ts'
import { cutItems, deflatedSegment, joinCuts, rawSegment } from '../../ream.ts'
import type { PageRead, Segment } from '../../store.ts'
import { headOf, type StoredHead, shownHead } from '../rows/head.ts'
import type { Reading, Row } from '../rows/rows.ts'
import { HEAD_WIDTH } from '../rows/statements.ts'
import { bytesOf } from '../rows/stored-ream.ts'

/** A ream, or the tail, and which of its items belong to the page. */
interface Part {
  readonly ream: number
  readonly count: number
  readonly from: number
  readonly take: number
}

interface PageParts {
  readonly page: number
  readonly parts: readonly Part[]
}

/** What is asked for: reams by number, and the tail. */
interface AskedParts {
  readonly reams: readonly number[]
  readonly hasTail: boolean
}

/** Undefined where the hole counts are not known, or do not add up. */
export function findParts(head: StoredHead, requested: number, holes: HoleCounts): PageParts | undefined {
  const page = effectivePage(requested, head.live)
  const { start, end } = pageRange(page, head.live)
  const parts: Part[] = []
  for (let rank = start; rank < end; ) {
    const found = locate(rank, head.next - head.live, (level, from, to) => holes.read(head, level, from, to))
    if (found === undefined) return undefined
    const { ream, offset, gone } = found
    const count = Math.min(REAM_SIZE, head.next - ream * REAM_SIZE) - gone
    const take = Math.min(count - offset, end - rank)
    if (take <= 0) return undefined
    parts.push({ ream, count, from: offset, take })
    rank += take
  }
  return { page, parts }
}

export function askFor({ parts }: PageParts, head: StoredHead): AskedParts {
  const sealed = sealedReams(head)
  const reams = parts.map(({ ream }) => ream).filter((ream) => ream < sealed)
  return { reams, hasTail: reams.length < parts.length }
}

/** One statement, whose rows have the head and a part each. */
export function readParts(
  rows: Reading,
  { name, shardKey }: Pick<StoredHead, 'name' | 'shardKey'>,
  { reams, hasTail }: AskedParts,
): Promise<readonly Row[]> {
  if (hasTail && reams.length === 0) return rows.all('readTailPart', shardKey, name)
  return rows.all(hasTail ? 'readLastParts' : 'readParts', shardKey, name, `{${reams.join(',')}}`)
}

/** The page from these rows. Undefined if something is missing, or has another count than it should. */
export function pageOf(found: readonly Row[], head: StoredHead, { page, parts }: PageParts): PageRead | undefined {
  const rows = new Map(found.map((row) => [row[NUMBER], row]))
  const segments: Segment[] = []
  for (const { ream, count, from, take } of parts) {
    const row = rows.get(ream)
    if (row === undefined || row[HEAD_WIDTH] !== count) return undefined
    const segment = segmentOf(row)
    segments.push(take === count ? segment : rawSegment(cutItems(segment.raw(), from, from + take), take))
  }
  return { head: shownHead(head), page, segments: joinCuts(segments) }
}

/** The column with the number of the ream, behind the head and the four of its bytes. */
const NUMBER = HEAD_WIDTH + 4

/** A ream, or the tail, which is not deflated and has no checksum. */
export function segmentOf(row: Row): Segment {
  const bytes = bytesOf(row, HEAD_WIDTH)
  return row[HEAD_WIDTH + 2] === null ? rawSegment(bytes.data, bytes.count) : deflatedSegment(bytes)
}

/** The blocks `from` to `to` of a level. */
interface Stretch {
  readonly level: number
  readonly from: number
  readonly to: number
}

export class HoleCounts {
  readonly #generationId: number
  readonly #fullPagesId: string
  readonly #known = new Map<string, readonly HoleCount[]>()
  #missing: Stretch | undefined

  constructor({ generationId, fullPagesId }: StoredHead) {
    this.#generationId = generationId
    this.#fullPagesId = fullPagesId
  }

  /** Whether they are those of a head. */
  areOf({ generationId, fullPagesId }: StoredHead): boolean {
    return generationId === this.#generationId && fullPagesId === this.#fullPagesId
  }

  /** See `ReadHoles`. Nothing for a stretch that is not known: where there should be something, the sums tell. */
  read({ next, live }: StoredHead, level: number, from: number, to: number): readonly HoleCount[] {
    this.#missing = undefined
    // Where all lies in one block, the head tells.
    if (blocksIn(next, level) === 1) return [{ level, block: 0, gone: next - live }]
    const known = this.#known.get(`${level} ${from}`)
    if (known === undefined) this.#missing = { level, from, to }
    return known ?? []
  }

  /** Whether `read` did not know what it was asked for last. */
  get isMissing(): boolean {
    return this.#missing !== undefined
  }

  /** Reads that, if the collection is still in this state. Answers its head as it is now. */
  async fill(rows: Reading, { shardKey, name }: StoredHead): Promise<StoredHead | undefined> {
    const { level = 0, from = 0, to = 0 } = this.#missing ?? {}
    const found = await rows.all('readHoleBlocks', shardKey, name, level, from, to)
    const head = found[0] && headOf(name, found[0])
    if (head !== undefined && this.areOf(head)) {
      const counts = found.filter((row) => row[HEAD_WIDTH] !== null)
      this.#known.set(
        `${level} ${from}`,
        counts.map((row) => ({ level, block: Number(row[HEAD_WIDTH]), gone: Number(row[HEAD_WIDTH + 1]) })),
      )
    }
    return head
  }
}
