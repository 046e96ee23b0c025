/** Answers that a client may keep and ask about again: each with a strong tag, and 304 for a client that has it (D16). */

import { hash } from 'node:crypto'
import { matchesTag } from '../contract/etag.ts'
import type { Head } from '../store/store.ts'
import type { Call } from './call.ts'
import { contentHeaders } from './content-headers.ts'
import type { Incoming } from './incoming.ts'
import type { Reply } from './reply.ts'

/** The headers that a 304 shares with the answer that it stands for. */
function validatorHeaders(tag: string): Record<string, string> {
  return { ETag: tag, 'Cache-Control': 'no-cache', Vary: 'Accept, Accept-Encoding' }
}

/** For what only some may read: a cache that many share must not keep it. */
export const PRIVATE = { 'Cache-Control': 'private, no-cache' } as const
const PUBLIC = {}

export function cachingOf({ requiresToken }: Call, head: Head | undefined): Record<string, string> {
  return requiresToken || head?.isPrivate ? PRIVATE : PUBLIC
}

export function notModified(tag: string, headers?: Record<string, string>): Reply {
  return { status: 304, headers: { ...validatorHeaders(tag), ...headers }, body: null }
}

/** A whole body with its type, its tag and its length. */
export function found(body: Uint8Array, type: string, tag: string, headers?: Record<string, string>): Reply {
  return { status: 200, headers: { ...contentHeaders(type, body.length), ...validatorHeaders(tag), ...headers }, body }
}

/** A small body whose tag is made from its bytes. */
export function foundByContent(
  request: Incoming,
  body: Uint8Array,
  type: string,
  headers?: Record<string, string>,
): Reply {
  const tag = `"${hash('sha256', body, 'base64url')}"`
  const isKnown = matchesTag(request.headers.get('if-none-match'), tag)
  return isKnown ? notModified(tag, headers) : found(body, type, tag, headers)
}
