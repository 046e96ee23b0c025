/** Unpacks a body, unless it is packed to do harm. */

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Body, BodyBuilder, PIECE_BYTES } from './body.ts'
import type { BodyShare } from './body-memory.ts'
import { figure } from './figure.ts'
import { MAX_GZIP_RATIO } from './limits.ts'
import { Refusal } from './refusal.ts'

/** Below this size the ratio says nothing. */
export const HARMLESS_BYTES = 1024 * 1024

/** Throws a Refusal for what is not gzip, is more than that, or becomes too large. */
export async function gunzipBody(packed: Body, mostBytes: number, share: BodyShare): Promise<Body> {
  // Twice: a bomb takes no memory away from others, which would then be refused in its place.
  share.hold(packed.length + (await unpackedLength(packed, mostBytes)))
  const builder = new BodyBuilder()
  for await (const chunk of gunzipped(packed)) builder.add(chunk)
  return builder.body()
}

async function unpackedLength(packed: Body, mostBytes: number): Promise<number> {
  const mostForItsSize = Math.max(HARMLESS_BYTES, packed.length * MAX_GZIP_RATIO)
  let length = 0
  for await (const chunk of gunzipped(packed)) {
    length += chunk.length
    if (length > mostBytes) throw tooLarge(`more than the ${figure(mostBytes)} bytes that are taken`)
    if (length > mostForItsSize)
      throw tooLarge(`more than ${MAX_GZIP_RATIO} times the ${figure(packed.length)} bytes that it has packed`)
  }
  return length
}

async function* gunzipped(packed: Body): AsyncGenerator<Uint8Array> {
  const unpacking = createGunzip({ chunkSize: PIECE_BYTES })
  Readable.from(packed.pieces, { objectMode: false }).pipe(unpacking)
  try {
    yield* unpacking as AsyncIterable<Uint8Array>
  } catch (error) {
    throw unreadable(error)
  }
  // Zlib takes zeros behind a member for padding, and does not look at what follows them.
  if (unpacking.bytesWritten < packed.length) throw new Refusal('invalid-body', 'Something follows the gzip data.')
}

function tooLarge(size: string): Refusal {
  return new Refusal('content-too-large', `Unpacked, the body has ${size}.`)
}

function unreadable(error: unknown): Refusal {
  const isCutOff = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
  return new Refusal('invalid-body', isCutOff ? 'The gzip data breaks off.' : 'The body is not gzip.')
}
