/** `GET /-/explorer/<file>`: what the pages of the explorer load. A name stands for its content, so it is cached for ever. */

import { matchesTag } from '../contract/etag.ts'
import type { HandlerContext } from './handler-context.ts'
import { chooseEncoding } from './negotiate.ts'
import { pathNotFound } from './problem-reply.ts'
import { contentHeaders, type Reply } from './reply.ts'

export function getAsset(context: HandlerContext): Reply {
  const asset = context.explorer?.asset(context.path)
  if (asset === undefined) return pathNotFound(context)
  const { headers } = context.request
  const encoding = chooseEncoding(headers.get('accept-encoding'))
  const tag = `"${asset.path.split('/').at(-1)}.${encoding}"`
  const kept = { ETag: tag, 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' }
  if (matchesTag(headers.get('if-none-match'), tag)) return { status: 304, headers: kept, body: null }
  const body = encoding === 'gzip' ? asset.gzip : asset.plain
  const encoded = encoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}
  return { status: 200, headers: { ...contentHeaders(asset.type, body.length), ...kept, ...encoded }, body }
}
