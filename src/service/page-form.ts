/** The two forms in which a page is sent: plain and as gzip. The items pass as the store hands them out. */

import { ENVELOPE_TAIL, ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Room, Segment, SegmentForm } from '../store/store.ts'
import { joinDeflated, spliceGzip, storedLength, TRAILER_BYTES } from './gzip-splice.ts'
import type { Encoding } from './negotiate.ts'
import { bodyAround, lengthOf, type PageItems } from './page-items.ts'

const TAIL = Buffer.from(ENVELOPE_TAIL)
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)

export interface PageForm {
  /** What it is made from. */
  readonly stored: SegmentForm
  readonly itemsOf: (segments: readonly Segment[]) => PageItems
  readonly bodyOf: (envelopeHead: Uint8Array, items: PageItems) => Buffer
  /** Bytes of the body behind the items. */
  readonly tailBytes: number
}

/** What is usually written around the items. Where it takes more, the items are copied. */
export const USUAL_ROOM: Room = { before: 1_024, after: 32 }

export const PAGE_FORMS: Readonly<Record<Encoding, PageForm>> = {
  identity: {
    stored: 'raw',
    itemsOf(segments) {
      const pieces = segments.flatMap((segment, index) => (index > 0 ? [SEPARATOR, segment.raw()] : [segment.raw()]))
      return { pieces, length: lengthOf(pieces), crc: 0, room: pieces.length === 1 ? segments[0]?.room : undefined }
    },
    bodyOf(envelopeHead, items) {
      const body = bodyAround(items, envelopeHead.length, TAIL.length)
      body.set(envelopeHead)
      body.set(TAIL, body.length - TAIL.length)
      return body
    },
    tailBytes: TAIL.length,
  },
  gzip: {
    stored: 'deflated',
    itemsOf: joinDeflated,
    bodyOf: (envelopeHead, items) => spliceGzip(envelopeHead, items, TAIL),
    tailBytes: storedLength(TAIL) + TRAILER_BYTES,
  },
}
