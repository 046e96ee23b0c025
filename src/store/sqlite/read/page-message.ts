/** What goes between the store and the thread that reads its pages. */

import { freeOwnMemory } from '../../../items/item-run.ts'
import { deflatedSegment, NO_ROOM, rawSegment } from '../../segment.ts'
import type { Head, PageRead, Room, Segment, SegmentForm } from '../../store.ts'
import { type Failure, unpackError } from '../write/writer.ts'

export interface PageQuestion {
  readonly name: string
  readonly page: number
  readonly isPublicOnly: boolean
  /** The form in which the segments come, and the room around a single one. */
  readonly form: SegmentForm
  readonly room: Room
}

/** Undefined: there is no such collection. */
export type PageAnswer = PackedPage | Failure | undefined

/** Lists, because the names of fields take longer on the way than what is in them. */
type PackedPage = readonly [head: Head, page: number, segments: readonly PackedSegment[]]
type PackedSegment = readonly [data: Uint8Array, count: number, rawLength: number, crc: number]

/** With the segments in the form that is wanted, so that nobody has to inflate or deflate them again. */
export function packPage({ head, page, segments }: PageRead, { form, room }: PageQuestion): PackedPage {
  const space = segments.length === 1 ? room : NO_ROOM
  return [head, page, segments.map((segment) => packSegment(segment, form, space))]
}

function packSegment(segment: Segment, form: SegmentForm, room: Room): PackedSegment {
  const { count, rawLength } = segment
  if (form === 'raw') return [withRoom(segment.raw(), room), count, rawLength, 0]
  const packed: PackedSegment = [withRoom(segment.deflated(), room), count, rawLength, segment.crc]
  if (!segment.isDeflated) freeOwnMemory(segment.raw())
  return packed
}

/** The bytes in memory of their own, which can go to another thread, with room around them. */
function withRoom(bytes: Uint8Array, { before, after }: Room): Uint8Array {
  const memory = Buffer.allocUnsafeSlow(before + bytes.length + after)
  const { length } = bytes
  memory.set(bytes, before)
  freeOwnMemory(bytes)
  return memory.subarray(before, before + length)
}

/** Throws the error if there was one. */
export function unpackPage(answer: PageAnswer, { form, room }: PageQuestion): PageRead | undefined {
  if (answer === undefined) return undefined
  if ('message' in answer) throw unpackError(answer)
  const [head, page, segments] = answer
  const space = segments.length === 1 ? room : NO_ROOM
  return { head, page, segments: segments.map((segment) => unpackSegment(segment, form, space)) }
}

function unpackSegment([data, count, rawLength, crc]: PackedSegment, form: SegmentForm, room: Room): Segment {
  return form === 'raw' ? rawSegment(data, count, room) : deflatedSegment({ data, count, rawLength, crc }, room)
}

/** The memory of the pages, which goes to the other thread as it is. */
export function memoryOf(answers: readonly PageAnswer[]): ArrayBuffer[] {
  const memory: ArrayBuffer[] = []
  for (const answer of answers)
    if (answer !== undefined && !('message' in answer))
      // The cast: `withRoom` made it.
      for (const [data] of answer[2]) memory.push(data.buffer as ArrayBuffer)
  return memory
}
