/** The body of a request, unpacked, within limits. */

import { type Body, BodyBuilder } from './body.ts'
import type { BodyShare } from './body-memory.ts'
import type { Call } from './call.ts'
import { figure } from './figure.ts'
import { gunzipBody } from './gunzip-body.ts'
import type { Incoming } from './incoming.ts'
import { Refusal } from './refusal.ts'

/** Bodies up to this size are read in one piece, which costs far less than a stream does and is parsed in a millisecond. */
const AT_ONCE_BYTES = 1 << 18

/** Reads all of it. Throws a Refusal for one that is too large, breaks off or cannot be unpacked. */
export async function readBody({ request, bodyShare }: Call, mostBytes: number): Promise<Body> {
  const isPacked = isGzip(request)
  const announced = announcedBytes(request)
  if (announced > mostBytes)
    throw new Refusal(
      'content-too-large',
      `The body has ${figure(announced)} bytes; at most ${figure(mostBytes)} are taken.`,
    )
  const isSmall = announced > 0 && announced <= AT_ONCE_BYTES
  const body = isSmall ? await readAtOnce(request, announced, bodyShare) : await collect(request, mostBytes, bodyShare)
  return isPacked ? gunzipBody(body, mostBytes, bodyShare) : body
}

function isGzip(request: Incoming): boolean {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === '' || encoding === 'identity') return false
  const detail = `The Content-Encoding is ${JSON.stringify(encoding.slice(0, 100))}; gzip is taken.`
  throw new Refusal('unsupported-media-type', detail, { headers: { 'Accept-Encoding': 'gzip' } })
}

/** 0 where the length is not known beforehand. */
function announcedBytes(request: Incoming): number {
  const given = request.headers.get('content-length') ?? ''
  return /^\d+$/.test(given) ? Number(given) : 0
}

async function readAtOnce(request: Incoming, announced: number, share: BodyShare): Promise<Body> {
  share.hold(announced)
  try {
    const bytes = new Uint8Array(await request.arrayBuffer())
    return { pieces: bytes.length === 0 ? [] : [bytes], length: bytes.length }
  } catch {
    throw new Refusal('invalid-body', 'The body breaks off.')
  }
}

async function collect(request: Incoming, mostBytes: number, share: BodyShare): Promise<Body> {
  const builder = new BodyBuilder()
  try {
    for await (const chunk of request.body ?? []) {
      builder.add(chunk)
      if (builder.length > mostBytes)
        throw new Refusal('content-too-large', `The body has more than the ${figure(mostBytes)} bytes that are taken.`)
      share.hold(builder.length)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid-body', 'The body breaks off.')
  }
  return builder.body()
}
