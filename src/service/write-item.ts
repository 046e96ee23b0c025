/** Writes to one item: `PUT` creates or replaces, `DELETE` removes. */

import { allTags, strongTags } from '../contract/etag.ts'
import type { Head, ItemConditions } from '../store/store.ts'
import type { Call } from './call.ts'
import { onceOf } from './idempotency.ts'
import type { Incoming } from './incoming.ts'
import { keyInPath } from './key-in-path.ts'
import { quoted } from './problem-response.ts'
import { receiveItems } from './received-items.ts'
import { Refusal } from './refusal.ts'
import { DONE, type Reply } from './reply.ts'
import { readItemOf } from './request-items.ts'
import { writeTarget } from './write-target.ts'
import { written } from './written.ts'

export async function putItem(call: Call): Promise<Reply> {
  const { request, store } = call
  const { name, head, key } = await itemTarget(call)
  const { run, ...once } = await receiveItems(call, readItemOf, head.keyField)
  const [own = ''] = run.keys ?? []
  if (own !== key) throw new Refusal('key-mismatch', `The path has the key ${quoted(key)}, the item ${quoted(own)}.`)
  const options = { ...once, collectionId: head.id }
  const { head: after, isNew, tag } = await store.put(name, run, conditionsOf(request), options)
  return written(isNew ? 201 : 200, { item_count: after.live, version: after.version }, { ETag: tag })
}

export async function deleteItem(call: Call): Promise<Reply> {
  const { name, head, key } = await itemTarget(call)
  const options = { ...(await onceOf(call)()), collectionId: head.id }
  await call.store.remove(name, key, conditionsOf(call.request), options)
  return DONE
}

async function itemTarget(call: Call): Promise<{ name: string; head: Head; key: string }> {
  const { name, head } = await writeTarget(call)
  if (head === undefined) throw new Refusal('collection-not-found', `There is no collection ${quoted(name)}.`)
  if (head.keyField === null)
    throw new Refusal('conflict', `The collection ${quoted(name)} has no key field, so its items have no address.`)
  return { name, head, key: keyInPath(call) }
}

function conditionsOf({ headers }: Incoming): ItemConditions {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.trim() === '*' ? '*' : strongTags(ifMatch) }),
    ...(ifNoneMatch !== null && { ifNoneMatch: ifNoneMatch.trim() === '*' ? '*' : allTags(ifNoneMatch) }),
  }
}
