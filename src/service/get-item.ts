/** `GET /<collection>/<key>`: one item, as it was written. */

import { matchesTag } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import { isStranger, mayRead } from './access.ts'
import { cachingOf, found, notModified } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { keyInPath } from './key-in-path.ts'
import { collectionNotFound, itemNotFound } from './not-found.ts'
import { quoted } from './problem-response.ts'

export async function getItem(call: Call): Promise<Response> {
  const [name = ''] = segmentsOf(call)
  if (!isCollectionName(name)) return collectionNotFound(call, name)
  if (isStranger(call.caller, name)) {
    const head = await call.store.head(name)
    if (head === undefined || !mayRead(call.caller, head)) return collectionNotFound(call, name)
  }
  const key = keyInPath(call)
  const read = await call.store.item(name, key)
  if (read === undefined || !mayRead(call.caller, read.head)) return collectionNotFound(call, name)
  if (read.head.keyField === null)
    return itemNotFound(call, `The collection ${quoted(name)} has no key field, so its items have no address.`)
  if (read.item === undefined)
    return itemNotFound(call, `The collection ${quoted(name)} has no item with the key ${quoted(key)}.`)
  const { text, tag } = read.item
  const caching = cachingOf(call, read.head)
  if (matchesTag(call.request.headers.get('if-none-match'), tag)) return notModified(tag, caching)
  return found(text, 'application/json', tag, caching)
}
