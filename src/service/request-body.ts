/** The body of a request, unpacked, within limits. */

import { createGunzip } from 'node:zlib'
import { MOST_GZIP_RATIO } from './limits.ts'
import { Refusal } from './refusal.ts'

/** Below this size the ratio says nothing. */
const HARMLESS_BYTES = 1024 * 1024

/** Reads all of it. Throws a Refusal for one that is too large, breaks off or cannot be unpacked. */
export async function readBody(request: Request, bodyBytes: number): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'gzip')
    throw new Refusal('unsupported-media-type', `The Content-Encoding is ${JSON.stringify(encoding)}; gzip is taken.`)
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > bodyBytes) throw tooLarge(bodyBytes, `${figure(announced)} bytes`)
  const packed = await collect(request, bodyBytes)
  return encoding === 'gzip' ? unpack(packed, bodyBytes) : packed
}

async function collect(request: Request, bodyBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge(bodyBytes, 'more')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid-body', 'The body breaks off.')
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length)
}

async function unpack(packed: Uint8Array, bodyBytes: number): Promise<Uint8Array> {
  const unpacking = createGunzip({ chunkSize: 1 << 16 })
  const most = Math.max(HARMLESS_BYTES, packed.length * MOST_GZIP_RATIO)
  const chunks: Uint8Array[] = []
  let length = 0
  unpacking.end(packed)
  try {
    for await (const chunk of unpacking as AsyncIterable<Uint8Array>) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge(bodyBytes, 'more, unpacked')
      if (length > most)
        throw new Refusal('content-too-large', `Unpacked, the body has more than ${MOST_GZIP_RATIO} times its size.`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid-body', 'The body is not gzip, or breaks off.')
  }
  return Buffer.concat(chunks, length)
}

function tooLarge(bodyBytes: number, size: string): Refusal {
  return new Refusal('content-too-large', `The body has ${size}; at most ${figure(bodyBytes)} bytes are taken.`)
}

function figure(count: number): string {
  return count.toLocaleString('en-US')
}
