/** `GET /-/openapi.json`: the description of the service, with the collections that the caller may read. */

import { LRUCache } from 'lru-cache'
import { foundByContent, PRIVATE, PUBLIC } from './answer.ts'
import type { Call } from './call.ts'
import { readableHeads } from './get-entry.ts'
import { describeService, type Instance, MAX_DESCRIBED_COLLECTIONS } from './openapi/describe-service.ts'
import type { Reply } from './reply.ts'

export async function getOpenapi(call: Call): Promise<Reply> {
  const { request, baseUrl, caller, requiresToken, limits, explorer } = call
  const { heads } = await readableHeads(call)
  const collections = heads.slice(0, MAX_DESCRIBED_COLLECTIONS).map(({ name, keyField, isPaginated, isPrivate }) => {
    return { name, keyField, isPaginated, isPrivate }
  })
  const others = heads.length - collections.length
  const body = textOf({ baseUrl, requiresToken, hasExplorer: explorer !== undefined, limits, collections, others })
  const isShared = !caller.isKnown && !requiresToken
  return foundByContent(request, body, 'application/json', isShared ? PUBLIC : PRIVATE)
}

/** With many collections it takes some milliseconds to write, and changes only when a collection comes or goes. */
const known = new LRUCache<string, Buffer>({ max: 10 })

function textOf(instance: Instance): Buffer {
  const key = JSON.stringify(instance)
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const text = Buffer.from(`${JSON.stringify(describeService(instance))}\n`)
  known.set(key, text)
  return text
}
