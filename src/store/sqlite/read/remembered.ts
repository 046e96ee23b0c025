/** What a connection remembers of collections, so that it is not read and made again for every page: holes, and the tail. */

import type { HoleCount } from '../../positions.ts'
import { keptSegment } from '../../segment.ts'
import type { Head, Segment } from '../../store.ts'
import type { Rows } from '../rows/rows.ts'

/** What is gone in some blocks of a collection, by level and first block. */
type Stretches = Map<string, readonly HoleCount[]>

interface Remembered {
  readonly id: number
  readonly generation: number
  /** While it is the same, nothing was deleted. */
  readonly fullPagesId: string
  readonly stretches: Stretches
  tail?: { readonly commitId: string; readonly segment: Segment }
}

/** Collections of a connection, and stretches of up to 256 blocks of each, before all are forgotten. */
const MAX_COLLECTIONS = 100
const MAX_STRETCHES = 1_000
const MAX_TAIL_BYTES = 64 * 1024

const remembered = new WeakMap<Rows, Map<string, Remembered>>()

/** Whether a collection of this name had holes when it was last read. */
export function hadHoles(rows: Rows, name: string): boolean {
  return (remembered.get(rows)?.get(name)?.stretches.size ?? 0) > 0
}

export function forget(rows: Rows, name: string): void {
  remembered.get(rows)?.delete(name)
}

/** To be filled by whoever reads more of them. */
export function knownHoles(rows: Rows, head: Head): Stretches {
  return recall(rows, head).stretches
}

/** The tail as `read` reads it, if it has changed. */
export function knownTail(rows: Rows, head: Head, read: () => Segment): Segment {
  const known = recall(rows, head)
  if (known.tail?.commitId === head.commitId) return known.tail.segment
  const segment = read()
  if (segment.rawLength > MAX_TAIL_BYTES) return segment
  known.tail = { commitId: head.commitId, segment: keptSegment(segment) }
  return known.tail.segment
}

function recall(rows: Rows, { name, id, generation, fullPagesId }: Head): Remembered {
  const all = remembered.get(rows) ?? new Map<string, Remembered>()
  remembered.set(rows, all)
  const known = all.get(name)
  const isCurrent = known?.id === id && known.generation === generation && known.fullPagesId === fullPagesId
  if (known !== undefined && isCurrent && known.stretches.size < MAX_STRETCHES) return known
  if (all.size >= MAX_COLLECTIONS) all.clear()
  const fresh: Remembered = { id, generation, fullPagesId, stretches: new Map() }
  all.set(name, fresh)
  return fresh
}
