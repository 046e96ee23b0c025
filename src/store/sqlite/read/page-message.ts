/** What goes between the store and the thread that reads its pages. */

import { free, type OwnedBytes, own } from '../../../items/owned-bytes.ts'
import { deflatedSegment, NO_ROOM, rawSegment } from '../../segment.ts'
import type { Head, PageRead, PastRead, Room, Segment, SegmentForm } from '../../store.ts'
import type { PageQuestion } from '../../store-reads.ts'
import { type Failure, unpackError } from '../write/writer.ts'

/** Undefined: there is no such collection. */
export type PageAnswer = PackedPage | Failure | undefined

/** Lists, because the names of fields take longer on the way than what is in them. */
type PackedPage = readonly [head: Head, page: number, segments: readonly PackedSegment[], past: PastFacts | undefined]
type PastFacts = Omit<PastRead, keyof PageRead>
type PackedSegment = readonly [data: Uint8Array, count: number, rawLength: number, crc: number]

/** With the segments in the form that is wanted, so that nobody has to inflate or deflate them again. */
export function packPage(read: PageRead | PastRead, { form, room }: PageQuestion): PackedPage {
  const { head, page, segments } = read
  const space = segments.length === 1 ? room : NO_ROOM
  const spent: OwnedBytes[] = []
  const packed = segments.map((segment) => packSegment(segment, form, space, spent))
  // When all of them are packed: of an earlier state, several may lie in the memory of one ream.
  spent.forEach(free)
  if (!('itemCount' in read)) return [head, page, packed, undefined]
  const { live, keptMs, itemCount, rewrittenBy } = read
  return [head, page, packed, { live, keptMs, itemCount, rewrittenBy }]
}

/** What is not needed any more is added to `spent`. */
function packSegment(segment: Segment, form: SegmentForm, room: Room, spent: OwnedBytes[]): PackedSegment {
  const { count, rawLength } = segment
  const bytes = form === 'raw' ? segment.raw() : segment.deflated()
  // Nobody else reads this page.
  spent.push(own(bytes))
  if (form !== 'raw' && !segment.isDeflated) spent.push(own(segment.raw()))
  return [withRoom(bytes, room), count, rawLength, form === 'raw' ? 0 : segment.crc]
}

/** The bytes in memory of their own, which can go to another thread, with room around them. */
function withRoom(bytes: Uint8Array, { before, after }: Room): Uint8Array {
  const memory = Buffer.allocUnsafeSlow(before + bytes.length + after)
  memory.set(bytes, before)
  return memory.subarray(before, before + bytes.length)
}

/** The same in memory of its own, without room around it. */
export function copyAnswer(answer: PageAnswer): PageAnswer {
  if (answer === undefined || 'message' in answer) return answer
  const [head, page, segments, past] = answer
  const copies = segments.map(([data, ...rest]): PackedSegment => [Uint8Array.from(data), ...rest])
  return [head, page, copies, past]
}

/** Throws the error if there was one. */
export function unpackPage(answer: PageAnswer, { form, room }: PageQuestion): PageRead | PastRead | undefined {
  if (answer === undefined) return undefined
  if ('message' in answer) throw unpackError(answer)
  const [head, page, packed, past] = answer
  const space = packed.length === 1 ? room : NO_ROOM
  const segments = packed.map((segment) => unpackSegment(segment, form, space))
  return past === undefined ? { head, page, segments } : { head, page, segments, ...past }
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
