/** Writes to one item: `PUT` creates or replaces, `DELETE` removes. */

import { allTags, strongTags } from '../../contract/etag.ts'
import type { Head, ItemConditions } from '../../store/store.ts'
import { type HandlerContext, keyOf, segmentsOf } from '../handler-context.ts'
import type { Incoming } from '../incoming.ts'
import { noCollection, quoted, Refusal } from '../problem-reply.ts'
import { DONE, outcome, type Reply } from '../reply.ts'
import { readSingleItem } from './read-items.ts'
import { onceOf, receiveItems, writeTarget } from './receive-write.ts'

export async function putItem(context: HandlerContext): Promise<Reply> {
  const { request, store } = context
  const { name, head, key } = await itemTarget(context)
  const { run, ...once } = await receiveItems(context, readSingleItem, head.keyField)
  const [own = ''] = run.keys ?? []
  if (own !== key) throw new Refusal('key-mismatch', `The path has the key ${quoted(key)}, the item ${quoted(own)}.`)
  const options = { ...once, collectionId: head.id }
  const { head: after, isNew, tag } = await store.put(name, run, conditionsOf(request), options)
  return outcome(isNew ? 201 : 200, { item_count: after.live, version: after.version }, { ETag: tag })
}

export async function deleteItem(context: HandlerContext): Promise<Reply> {
  const { name, head, key } = await itemTarget(context)
  const options = { ...(await onceOf(context)()), collectionId: head.id }
  await context.store.remove(name, key, conditionsOf(context.request), options)
  return DONE
}

/** The item to write. Throws a Refusal if there can be no such item. */
async function itemTarget(context: HandlerContext): Promise<{ name: string; head: Head; key: string }> {
  const { name, head } = await writeTarget(context)
  if (head === undefined) throw new Refusal('collection-not-found', noCollection(name))
  if (head.keyField === null)
    throw new Refusal('conflict', `The collection ${quoted(name)} has no key field, so its items have no address.`)
  const key = keyOf(context)
  if (key !== undefined) return { name, head, key }
  const problem = context.request.method === 'PUT' ? 'key-mismatch' : 'item-not-found'
  throw new Refusal(problem, `The key ${quoted(segmentsOf(context)[1] ?? '')} is not percent-encoded UTF-8.`)
}

function conditionsOf({ headers }: Incoming): ItemConditions {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  return {
    ...(ifMatch !== null && { ifMatch: ifMatch.trim() === '*' ? '*' : strongTags(ifMatch) }),
    ...(ifNoneMatch !== null && { ifNoneMatch: ifNoneMatch.trim() === '*' ? '*' : allTags(ifNoneMatch) }),
  }
}
