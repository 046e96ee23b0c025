/** Writes to one item: `PUT` creates or replaces, `DELETE` removes. */

import { allTags, strongTags } from '../contract/etag.ts'
import { isCollectionName } from '../contract/name.ts'
import type { Head, ItemConditions } from '../store/store.ts'
import { requireWrite } from './access.ts'
import { type Call, segmentsOf } from './call.ts'
import { onceOf } from './idempotency.ts'
import { keyInPath } from './key-in-path.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'
import { readBody } from './request-body.ts'
import { bodyTypeOf, readItemsOf } from './request-items.ts'
import { written } from './written.ts'

export async function putItem(call: Call): Promise<Response> {
  const { request, store, limits } = call
  const { name, head, key } = await target(call)
  const type = bodyTypeOf(request)
  const body = await readBody(request, limits.bodyBytes)
  const run = await readItemsOf(body, type, head.keyField, limits)
  if (run.count !== 1) throw new Refusal('invalid-body', `One item is expected, and there are ${run.count}.`)
  const [own = ''] = run.keys ?? []
  if (own !== key) throw new Refusal('key-mismatch', `The path has the key ${quoted(key)}, the item ${quoted(own)}.`)
  const options = { ...onceOf(call, body), collectionId: head.id }
  const { head: after, isNew, tag } = await store.put(name, run, conditionsOf(request), options)
  return written(isNew ? 201 : 200, { item_count: after.live, version: after.version }, { ETag: tag })
}

export async function deleteItem(call: Call): Promise<Response> {
  const { name, head, key } = await target(call)
  const options = { ...onceOf(call, ''), collectionId: head.id }
  await call.store.remove(name, key, conditionsOf(call.request), options)
  return new Response(null, { status: 204 })
}

async function target(call: Call): Promise<{ name: string; head: Head; key: string }> {
  const [name = ''] = segmentsOf(call)
  const head = isCollectionName(name) ? await call.store.head(name) : undefined
  requireWrite(call.caller, name, head)
  if (head === undefined) throw new Refusal('collection-not-found', `There is no collection ${quoted(name)}.`)
  if (head.keyField === null)
    throw new Refusal('conflict', `The collection ${quoted(name)} has no key field, so its items have no address.`)
  return { name, head, key: keyInPath(call) }
}

function conditionsOf({ headers }: Request): ItemConditions {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.trim() === '*' ? '*' : strongTags(ifMatch) }),
    ...(ifNoneMatch !== null && { ifNoneMatch: ifNoneMatch.trim() === '*' ? '*' : allTags(ifNoneMatch) }),
  }
}
