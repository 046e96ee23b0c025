/** The two forms in which a page is sent: plain and as gzip. The items pass as the store hands them out. */

import { ENVELOPE_TAIL, ITEM_SEPARATOR } from '../contract/envelope.ts'
import type { Segment } from '../store/store.ts'
import { type Deflated, joinDeflated, spliceGzip } from './gzip-splice.ts'
import type { Encoding } from './negotiate.ts'

const TAIL = Buffer.from(ENVELOPE_TAIL)
const SEPARATOR = Buffer.from(ITEM_SEPARATOR)
/** What stands behind the items in a gzip body: the tail as a stored block, and the trailer of the file. */
const GZIP_TAIL_BYTES = 5 + TAIL.length + 8

export interface PageForm {
  /** The items of a page as they stand in its body. */
  readonly itemsOf: (segments: readonly Segment[]) => PageItems
  readonly bodyOf: (envelopeHead: Uint8Array, items: PageItems) => Buffer<ArrayBuffer>
  /** Bytes of the body behind the items. */
  readonly tailBytes: number
}

export type PageItems = Deflated

export const PAGE_FORMS: Readonly<Record<Encoding, PageForm>> = {
  identity: {
    itemsOf(segments) {
      const pieces = segments.flatMap((segment, index) => (index > 0 ? [SEPARATOR, segment.raw()] : [segment.raw()]))
      return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0), crc: 0 }
    },
    bodyOf: (envelopeHead, { pieces }) => Buffer.concat([envelopeHead, ...pieces, TAIL]),
    tailBytes: TAIL.length,
  },
  gzip: {
    itemsOf: joinDeflated,
    bodyOf: (envelopeHead, items) => spliceGzip(envelopeHead, items, TAIL),
    tailBytes: GZIP_TAIL_BYTES,
  },
}

/** The same items, as a part of the body that they were put into: so they are in memory once. */
export function itemsIn(body: Buffer<ArrayBuffer>, { pieces, ...rest }: PageItems, { tailBytes }: PageForm): PageItems {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const end = body.length - tailBytes
  return { pieces: [body.subarray(end - bytes, end)], ...rest }
}
