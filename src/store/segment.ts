/** Segments: the items of a page as they lie in a store, cut out of reams and the tail, and deflated where they have to be. Pure. */

import { crc32 } from 'node:zlib'
import { free, own } from '../items/owned-bytes.ts'
import { deflateForResponse } from '../items/raw-deflate.ts'
import { stored } from '../items/splice.ts'
import { cutItems, joinPieces, type RawItems } from './item-text.ts'
import type { Part } from './positions.ts'
import {
  briefCopy,
  concat,
  type Deflated,
  inflate,
  joinDeflated,
  type Quire,
  quiresOf,
  type ReamBytes,
  readInflated,
} from './ream.ts'
import type { Room, Segment } from './store.ts'

/** So few bytes take longer to deflate than to send: three packets of a network. */
const SHORT_BYTES = 4_096

/** A segment that lies deflated on disk. */
export function deflatedSegment(items: Deflated, room = NO_ROOM): Segment {
  const { count, rawLength, crc, data } = items
  return { count, isDeflated: true, rawLength, crc, room, raw: () => inflate(items), deflated: () => data }
}

export const NO_ROOM: Room = { before: 0, after: 0 }

/** A segment that was put together from items, whose bytes are its own. */
export function rawSegment(raw: Uint8Array, count: number, room = NO_ROOM): Segment {
  return {
    count,
    isDeflated: false,
    room,
    rawLength: raw.byteLength,
    // Only a gzip answer asks for it.
    get crc() {
      return crc32(raw)
    },
    raw: () => raw,
    deflated: () => (raw.byteLength <= SHORT_BYTES ? stored(raw) : deflateForResponse(raw)),
  }
}

/** A segment that can be used many times: each time its bytes are copied, since whoever gets some may free them. */
export function keptSegment(segment: Segment): Segment {
  const [raw, { count, rawLength, crc }] = [segment.raw(), segment]
  let data: Uint8Array | undefined
  const deflated = (): Uint8Array => {
    data ??= concat([segment.deflated()])
    return briefCopy(data)
  }
  return { count, isDeflated: false, rawLength, crc, raw: () => briefCopy(raw), deflated }
}

/** The same items, with segments in a row that are yet to be deflated made one: once costs less than twice, and packs better. */
export function joinCuts(segments: Iterable<Segment>): Segment[] {
  const joined: Segment[] = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (last === undefined || last.isDeflated || segment.isDeflated) joined.push(segment)
    else {
      const pieces = [last.raw(), segment.raw()]
      joined.splice(-1, 1, rawSegment(joinPieces(pieces), last.count + segment.count))
      for (const piece of pieces) free(own(piece))
    }
  }
  return joined
}

/** The items of a ream, and of the tail behind it, that belong to a page. Quires that belong to it whole stay as they lie. */
export function cutPart(ream: ReamBytes | undefined, tail: Segment | undefined, { from, take }: Part): Segment[] {
  const inReam = ream?.count ?? 0
  const segments = ream === undefined ? [] : cutReam(ream, from, Math.min(from + take, inReam))
  if (tail === undefined || from + take <= inReam) return segments
  const [start, end] = [Math.max(0, from - inReam), from + take - inReam]
  const isWhole = start === 0 && end === tail.count
  return [...segments, isWhole ? tail : rawSegment(cutItems(tail.raw(), start, end), end - start)]
}

function cutReam(ream: ReamBytes, from: number, to: number): Segment[] {
  if (from >= to) return []
  if (from === 0 && to === ream.count) return [deflatedSegment(ream)]
  return cutPieces(ream, quiresOf(ream), from, to)
}

/** Items `from` up to `to` of quires of a ream, in the place of some of which other items stand. */
export function cutPieces(
  ream: ReamBytes | undefined,
  pieces: readonly (Quire | RawItems)[],
  from: number,
  to: number,
): Segment[] {
  const segments: Segment[] = []
  const whole: Deflated[] = []
  const takeWhole = (): void => {
    if (ream !== undefined && whole.length > 0) segments.push(deflatedSegment(adjoining(ream, whole.splice(0))))
  }
  let before = 0
  for (const piece of pieces) {
    const { count } = piece
    const isRaw = 'raw' in piece
    if (isRaw) takeWhole()
    if (count === 0) continue
    const [start, end] = [Math.max(0, from - before), Math.min(count, to - before)]
    before += count
    if (start >= end) continue
    if (!isRaw && start === 0 && end === count) whole.push(piece)
    else {
      takeWhole()
      const cut = (raw: Uint8Array) => cutItems(raw, start, end < count ? end : undefined)
      const items = isRaw ? cut(piece.raw) : readInflated(piece, (raw) => briefCopy(cut(raw)))
      segments.push(rawSegment(items, end - start))
    }
  }
  takeWhole()
  return segments
}

/** Quires that lie one after the other, as one: the separators between them are there already. */
function adjoining({ data }: ReamBytes, quires: readonly Deflated[]): Deflated {
  const start = (quires[0]?.data.byteOffset ?? 0) - data.byteOffset
  const joined = joinDeflated(quires)
  const length = joined.data.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return { ...joined, data: data.subarray(start, start + length) }
}
