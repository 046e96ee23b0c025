/** The rows that hold the parts of a page, and the hole counts that are known of a collection. */

import { KnownHoles } from '../../known-holes.ts'
import { type PageParts, REAM_SIZE, tailStart } from '../../positions.ts'
import { cutPart, deflatedSegment, joinCuts, rawSegment } from '../../segment.ts'
import type { PageRead, Segment } from '../../store.ts'
import { headOf, type StoredHead, shownHead } from '../rows/head.ts'
import type { Reading, Row } from '../rows/rows.ts'
import { HEAD_WIDTH } from '../rows/statements.ts'
import { bytesOf } from '../rows/stored-ream.ts'

/** What is asked for: reams by number, and the tail. */
interface AskedParts {
  readonly reams: readonly number[]
  readonly hasTail: boolean
}

export function askFor({ parts }: PageParts, head: StoredHead): AskedParts {
  const start = tailStart(head)
  const reams = parts.map(({ ream }) => ream)
  const hasTail = start < head.next && reams.includes(reamOfTail(head))
  return { reams: reams.filter((ream) => ream * REAM_SIZE < start), hasTail }
}

/** The ream that the tail goes on with, or begins. */
function reamOfTail(head: StoredHead): number {
  return Math.floor(tailStart(head) / REAM_SIZE)
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
  const countIn = (row: Row | undefined) => Number(row?.[HEAD_WIDTH] ?? 0)
  const { reams, hasTail } = askFor({ page, parts }, head)
  const segments: Segment[] = []
  for (const part of parts) {
    const ream = reams.includes(part.ream) ? rows.get(part.ream) : undefined
    const tail = hasTail && part.ream === reamOfTail(head) ? rows.get(null) : undefined
    if (countIn(ream) + countIn(tail) !== part.count) return undefined
    segments.push(
      ...cutPart(ream && bytesOf(ream, HEAD_WIDTH), countIn(tail) > 0 && tail ? segmentOf(tail) : undefined, part),
    )
  }
  return { head: shownHead(head), page, segments: joinCuts(segments) }
}

/** The column with the number of the ream, behind the head and the five of its bytes. The tail has none. */
const NUMBER = HEAD_WIDTH + 5

/** A ream, or the tail, which is not deflated and has no checksum. */
export function segmentOf(row: Row): Segment {
  const bytes = bytesOf(row, HEAD_WIDTH)
  return row[HEAD_WIDTH + 2] === null ? rawSegment(bytes.data, bytes.count) : deflatedSegment(bytes)
}

/** Those of a collection as it is now, as long as nothing is deleted. */
export class HoleCounts extends KnownHoles {
  readonly #generationId: number
  readonly #fullPagesId: string

  constructor({ generationId, fullPagesId }: StoredHead) {
    super()
    this.#generationId = generationId
    this.#fullPagesId = fullPagesId
  }

  /** Whether they are those of a head. */
  areOf({ generationId, fullPagesId }: StoredHead): boolean {
    return generationId === this.#generationId && fullPagesId === this.#fullPagesId
  }

  /** Reads what is missing, if the collection is still in this state. Answers its head as it is now. */
  async fill(rows: Reading, { shardKey, name }: StoredHead): Promise<StoredHead | undefined> {
    const stretch = this.missing ?? { level: 0, from: 0, to: 0 }
    const { level, from, to } = stretch
    const found = await rows.all('readHoleBlocks', shardKey, name, level, from, to)
    const head = found[0] && headOf(name, found[0])
    if (head !== undefined && this.areOf(head)) {
      const counts = found.filter((row) => row[HEAD_WIDTH] !== null)
      this.add(
        stretch,
        counts.map((row) => ({ level, block: Number(row[HEAD_WIDTH]), gone: Number(row[HEAD_WIDTH + 1]) })),
      )
    }
    return head
  }
}
