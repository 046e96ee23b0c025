/** `GET /<collection>/<key>`: one item, as it was written. */

import { matchesTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import type { Head } from '../store/store.ts'
import { hasNoScope, mayRead } from './access.ts'
import { cachingOf, found, notModified } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { decodedKey, undecodableKey } from './key-in-path.ts'
import { collectionNotFound, itemNotFound } from './not-found.ts'
import { quoted } from './problem-response.ts'
import type { Reply } from './reply.ts'

export interface FoundItem {
  readonly head: Head
  readonly key: string
  /** Its JSON, as it was written. */
  readonly text: Uint8Array
  readonly tag: string
}

export async function getItem(call: Call): Promise<Reply> {
  const read = await readItem(call)
  if ('status' in read) return read
  const { text, tag } = read
  const caching = cachingOf(call, read.head)
  if (matchesTag(call.request.headers.get('if-none-match'), tag)) return notModified(tag, caching)
  return found(text, 'application/json', tag, caching)
}

/** The item that the path names, or why there is none. */
export async function readItem(call: Call): Promise<FoundItem | Reply> {
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  const key = decodedKey(call)
  // No item has an empty key.
  const read = await call.store.item(name, key ?? '', { isPublicOnly: hasNoScope(call.caller, name) })
  if (read === undefined || !mayRead(call.caller, read.head)) return collectionNotFound(call, name)
  if (key === undefined) throw undecodableKey(call)
  if (read.head.keyField === null)
    return itemNotFound(call, `The collection ${quoted(name)} has no key field, so its items have no address.`)
  if (read.item === undefined)
    return itemNotFound(call, `The collection ${quoted(name)} has no item with the key ${quoted(key)}.`)
  return { head: read.head, key, ...read.item }
}
