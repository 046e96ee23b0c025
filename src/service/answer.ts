/** Answers that a client may keep and ask about again: each with a strong tag, and 304 for a client that has it (D16). */

import { hash } from 'node:crypto'
import { matchesTag } from '../contract/etag.ts'
import type { Head } from '../store/store.ts'
import type { Call } from './call.ts'
import { contentHeaders } from './content-headers.ts'
import type { Incoming } from './incoming.ts'
import type { Encoding } from './negotiate.ts'
import type { Reply } from './reply.ts'

/** What a cache may do with an answer: keep it and ask every time; or not even that where many share the cache. */
export type Caching = 'no-cache' | 'private, no-cache'

/** For what only some may read. */
export const PRIVATE: Caching = 'private, no-cache'
export const PUBLIC: Caching = 'no-cache'

export function cachingOf({ requiresToken }: Call, head: Head | undefined): Caching {
  return requiresToken || head?.isPrivate ? PRIVATE : PUBLIC
}

export const VARY = 'Accept, Accept-Encoding'

export function notModified(tag: string, caching: Caching): Reply {
  return { status: 304, headers: { ETag: tag, 'Cache-Control': caching, Vary: VARY }, body: null }
}

/** A whole body with its type, its tag and its length. */
export function found(
  body: Uint8Array,
  type: string,
  tag: string,
  caching: Caching,
  encoding: Encoding = 'identity',
): Reply {
  const headers = contentHeaders(type, body.length)
  headers['ETag'] = tag
  headers['Cache-Control'] = caching
  headers['Vary'] = VARY
  if (encoding === 'gzip') headers['Content-Encoding'] = 'gzip'
  return { status: 200, headers, body }
}

/** A small body whose tag is made from its bytes. */
export function foundByContent(request: Incoming, body: Uint8Array, type: string, caching: Caching): Reply {
  const tag = `"${hash('sha256', body, 'base64url')}"`
  const isKnown = matchesTag(request.headers.get('if-none-match'), tag)
  return isKnown ? notModified(tag, caching) : found(body, type, tag, caching)
}
