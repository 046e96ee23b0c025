/** The body of a request, unpacked, within limits. */

import { type Body, BodyBuilder } from './body.ts'
import type { BodyShare } from './body-memory.ts'
import type { Call } from './call.ts'
import { figure } from './figure.ts'
import { gunzipBody } from './gunzip-body.ts'
import type { Incoming } from './incoming.ts'
import { Refusal } from './refusal.ts'

/** Reads all of it. Throws a Refusal for one that is too large, breaks off or cannot be unpacked. */
export async function readBody({ request, bodyShare }: Call, maxBytes: number): Promise<Body> {
  const isPacked = isGzip(request)
  const announced = announcedBytes(request)
  if (announced > maxBytes)
    throw new Refusal(
      'content-too-large',
      `The body has ${figure(announced)} bytes; at most ${figure(maxBytes)} are taken.`,
    )
  const body = await collect(request, maxBytes, bodyShare)
  return isPacked ? gunzipBody(body, maxBytes, bodyShare) : body
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

/** Memory is charged for what has come, not for what was announced. */
async function collect(request: Incoming, maxBytes: number, share: BodyShare): Promise<Body> {
  const builder = new BodyBuilder()
  try {
    await request.readBody((chunk) => {
      builder.add(chunk)
      if (builder.length > maxBytes)
        throw new Refusal('content-too-large', `The body has more than the ${figure(maxBytes)} bytes that are taken.`)
      share.hold(builder.length)
    })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid-body', 'The body breaks off.')
  }
  return builder.body()
}
