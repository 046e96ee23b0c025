/** `DELETE /<collection>`: drops it, for somebody who has seen it as it is now. */

import { namesPage } from '../contract/etag.ts'
import { lastPage } from '../contract/page.ts'
import { allows } from '../contract/scope.ts'
import type { CollectionState, Head } from '../store/store.ts'
import { type Call, segmentsOf } from './call.ts'
import { onceOf } from './idempotency.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'
import { DONE, type Reply } from './reply.ts'
import { writeTarget } from './write-target.ts'

export async function deleteCollection(call: Call): Promise<Reply> {
  const { request, store } = call
  const { name, head } = await dropTarget(call)
  const ifMatch = request.headers.get('if-match')
  if (ifMatch === null) throw new Refusal('precondition-required', 'Dropping a collection needs If-Match.')
  const options = await onceOf(call)()
  const state = namedState(call, head, ifMatch)
  if (state === undefined && options.once === undefined)
    throw head === undefined
      ? new Refusal('collection-not-found', `There is no collection ${quoted(name)}.`)
      : new Refusal('precondition-failed', `No page of ${quoted(name)} has this ETag now.`)
  await store.drop(name, state ?? NO_STATE, options)
  return DONE
}

/** A drop that is sent again finds nothing to drop, or another collection: what was answered first, the store knows. */
async function dropTarget(call: Call): Promise<{ name: string; head: Head | undefined }> {
  const [name = ''] = segmentsOf(call)
  const mayBeRepeated = call.request.headers.has('idempotency-key') && allows(call.caller.scopes, 'write', name)
  return mayBeRepeated ? { name, head: await call.store.head(name) } : writeTarget(call)
}

/** The state of the collection, if If-Match names a page of it. */
function namedState({ baseUrl }: Call, head: Head | undefined, ifMatch: string): CollectionState | undefined {
  if (head === undefined) return undefined
  const { id, generation, version, commitId, isPaginated, live } = head
  const parts = { baseUrl, collectionId: id, generation, version, commitId }
  return namesPage(ifMatch, parts, isPaginated ? lastPage(live) : 0) ? { id, commitId } : undefined
}

/** No collection is ever in it. */
const NO_STATE: CollectionState = { id: -1, commitId: '' }
