/** The body of a page: the envelope around its items, plain or as gzip. The items pass as the store hands them out. */

import { ENVELOPE_TAIL, ITEM_SEPARATOR, pageEnvelopeHead, wholeEnvelopeHead } from '../contract/envelope.ts'
import type { PageRead } from '../store/store.ts'
import type { GzipSplice } from './gzip-splice.ts'

export function plainBody(baseUrl: string, read: PageRead): Buffer<ArrayBuffer> {
  const separator = Buffer.from(ITEM_SEPARATOR)
  const pieces: Uint8Array[] = [envelopeHead(baseUrl, read)]
  for (const [index, segment] of read.segments.entries()) {
    if (index > 0) pieces.push(separator)
    pieces.push(segment.raw())
  }
  pieces.push(Buffer.from(ENVELOPE_TAIL))
  return Buffer.concat(pieces)
}

export function gzipBody(baseUrl: string, read: PageRead, spliceGzip: GzipSplice): Buffer<ArrayBuffer> {
  return spliceGzip(envelopeHead(baseUrl, read), read.segments, Buffer.from(ENVELOPE_TAIL))
}

function envelopeHead(baseUrl: string, { head, page }: PageRead): Buffer {
  return Buffer.from(
    head.isPaginated ? pageEnvelopeHead(baseUrl, head.name, page, head.live) : wholeEnvelopeHead(baseUrl, head.name),
  )
}
