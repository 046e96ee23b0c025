/** The body of a request, unpacked, within limits, in pieces of a good size. */

import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { formatCount } from '../../contract/message-text.ts'
import type { BodyShare } from '../body-memory.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { Incoming } from '../incoming.ts'
import { HARMLESS_GZIP_BYTES, MAX_GZIP_RATIO } from '../limits.ts'
import { Refusal } from '../problem-reply.ts'

/** As many bytes as are processed in a fraction of a millisecond. */
export const PIECE_BYTES = 1 << 16
const MIN_BLOCK_BYTES = 1 << 10

interface ByteLimit {
  readonly bytes: number
  /** The flag of the limit, for messages; empty if it is fixed. */
  readonly flag: string
}

export interface Body {
  /** None is empty. */
  readonly pieces: Uint8Array[]
  readonly length: number
}

/**
 * Reads the whole body, and waits until there is memory to process it. Throws a Refusal if it is too large, incomplete or cannot
 * be unpacked.
 */
export async function readBody(context: HandlerContext, maxBytes = context.limits.bodyBytes): Promise<Body> {
  const { request, bodyShare, limits } = context
  const isPacked = isGzip(request)
  const announced = Number(request.headers.get('content-length') ?? 0)
  const limit = { bytes: maxBytes, flag: maxBytes === limits.bodyBytes ? ' (--body-bytes)' : '' }
  if (announced > maxBytes)
    throw tooLarge(`The body has ${formatCount(announced)} bytes; the limit is ${formatCount(maxBytes)}${limit.flag}.`)
  const received = await collect(request, limit, bodyShare)
  const body = isPacked ? await gunzipBody(received, limit, bodyShare) : received
  const ready = bodyShare.process(body.length)
  if (ready !== undefined) await ready
  return body
}

/** The whole body in one array. */
export function joined({ pieces, length }: Body): Uint8Array {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, length)
}

/** The pieces, with a turn of the event loop before each but the first: reads must not wait until a large body is processed. */
export async function* inTurns({ pieces }: Pick<Body, 'pieces'>): AsyncGenerator<Uint8Array> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await setImmediate()
    yield piece
  }
}

/** The same, but removes each piece from the body, so that a large body is not in memory twice once it is read. */
export async function* drain({ pieces }: Body): AsyncGenerator<Uint8Array> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    yield piece
    if (pieces.length > 0) await setImmediate()
  }
}

function isGzip(request: Incoming): boolean {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === '' || encoding === 'identity') return false
  const detail = `The Content-Encoding is ${JSON.stringify(encoding.slice(0, 100))}; expected gzip.`
  throw new Refusal('unsupported-media-type', detail, { headers: { 'Accept-Encoding': 'gzip' } })
}

/** Memory is charged for the bytes that have come, not for the announced length. */
async function collect(request: Incoming, limit: ByteLimit, share: BodyShare): Promise<Body> {
  const builder = new BodyBuilder()
  try {
    await request.readBody((chunk) => {
      builder.add(chunk)
      if (builder.length > limit.bytes)
        throw tooLarge(`The body has more than ${formatCount(limit.bytes)} bytes${limit.flag}.`)
      share.hold(builder.length)
    })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid-body', 'The body is truncated.')
  }
  return builder.body()
}

/** Throws a Refusal for what is not gzip, becomes too large, or is packed to do harm. */
async function gunzipBody(packed: Body, limit: ByteLimit, share: BodyShare): Promise<Body> {
  // Unpacks twice, first only to measure: a bomb never holds memory, for lack of which others would be refused.
  share.hold(packed.length + (await unpackedLength(packed, limit)))
  const builder = new BodyBuilder()
  for await (const chunk of gunzipped(packed)) builder.add(chunk)
  return builder.body()
}

async function unpackedLength(packed: Body, limit: ByteLimit): Promise<number> {
  const maxForItsSize = Math.max(HARMLESS_GZIP_BYTES, packed.length * MAX_GZIP_RATIO)
  let length = 0
  for await (const chunk of gunzipped(packed)) {
    length += chunk.length
    if (length > limit.bytes)
      throw tooLarge(`The decompressed body has more than ${formatCount(limit.bytes)} bytes${limit.flag}.`)
    if (length > maxForItsSize)
      throw tooLarge(
        `The body decompresses to more than ${MAX_GZIP_RATIO} times its ${formatCount(packed.length)} bytes.`,
      )
  }
  return length
}

async function* gunzipped(packed: Body): AsyncGenerator<Uint8Array> {
  const unpacking = createGunzip({ chunkSize: PIECE_BYTES })
  Readable.from(packed.pieces, { objectMode: false }).pipe(unpacking)
  try {
    yield* unpacking as AsyncIterable<Uint8Array>
  } catch (error) {
    const isCutOff = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
    throw new Refusal('invalid-body', isCutOff ? 'The gzip data is truncated.' : 'The body is not gzip.')
  }
  // Zlib takes zeros after a member for padding, and ignores what follows them.
  if (unpacking.bytesWritten < packed.length) throw new Refusal('invalid-body', 'Something follows the gzip data.')
}

function tooLarge(detail: string): Refusal {
  return new Refusal('content-too-large', detail)
}

/** Collects chunks. Small ones are joined: each on its own would take far more memory than its bytes. */
class BodyBuilder {
  length = 0
  readonly #pieces: Uint8Array[] = []
  #block = new Uint8Array(0)
  #filled = 0

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    const isFirst = this.length === 0
    this.length += chunk.length
    if (isFirst || chunk.length > PIECE_BYTES / 2) this.#addWhole(chunk)
    else this.#addToBlock(chunk)
  }

  body(): Body {
    this.#closeBlock()
    return { pieces: this.#pieces, length: this.length }
  }

  #addWhole(chunk: Uint8Array): void {
    this.#closeBlock()
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) this.#pieces.push(chunk.subarray(at, at + PIECE_BYTES))
  }

  #addToBlock(chunk: Uint8Array): void {
    if (this.#filled + chunk.length > this.#block.length) {
      this.#closeBlock()
      // Blocks grow with the body: a client that sends a few bytes and then waits holds little more than these.
      const wanted = Math.max(chunk.length, Math.min(this.length, PIECE_BYTES))
      this.#block = new Uint8Array(Math.max(MIN_BLOCK_BYTES, wanted))
    }
    this.#block.set(chunk, this.#filled)
    this.#filled += chunk.length
  }

  #closeBlock(): void {
    if (this.#filled > 0) this.#pieces.push(this.#block.subarray(0, this.#filled))
    this.#block = new Uint8Array(0)
    this.#filled = 0
  }
}
