/** `GET /<collection>/<key>`: one item, as it was written. */

import { matchesTag } from '../../contract/etag.ts'
import { quoted } from '../../contract/message-text.ts'
import { isCollectionName } from '../../contract/name.ts'
import type { Head } from '../../store/store.ts'
import { hasNoScope, mayRead } from '../access.ts'
import { collectionOf, type HandlerContext, keyOf, segmentsOf } from '../handler-context.ts'
import { collectionNotFound, Refusal } from '../problem-reply.ts'
import { cachingOf, found, notModified, type Reply } from '../reply.ts'

export async function getItem(context: HandlerContext): Promise<Reply> {
  const { head, text, tag } = await readItem(context)
  const caching = cachingOf(context, head)
  if (matchesTag(context.request.headers.get('if-none-match'), tag)) return notModified(tag, caching)
  return found(text, 'application/json', tag, caching)
}

/** The item that the path names. Throws a Refusal if there is none. */
export async function readItem(context: HandlerContext) {
  const { store, caller } = context
  const name = collectionOf(context)
  if (!isCollectionName(name)) throw collectionNotFound(name)
  const key = keyOf(context)
  // No item has an empty key.
  const read = await store.item(name, key ?? '', { isPublicOnly: hasNoScope(caller, name) })
  if (read === undefined || !mayRead(caller, read.head)) throw collectionNotFound(name)
  const { head, item } = read
  if (key !== undefined && head.keyField !== null && item !== undefined) return { head, key, ...item }
  throw new Refusal('item-not-found', whyNoItem(head, segmentsOf(context)[1] ?? '', key))
}

function whyNoItem({ name, keyField }: Head, segment: string, key: string | undefined): string {
  if (key === undefined) return `The key ${quoted(segment)} is not percent-encoded UTF-8.`
  if (keyField === null) return `The collection ${quoted(name)} has no key field, so its items have no address.`
  return `The collection ${quoted(name)} has no item with the key ${quoted(key)}.`
}
