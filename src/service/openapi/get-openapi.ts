/** `GET /-/openapi.json`: the description of the service, with the collections that the caller may read. */

import { LRUCache } from 'lru-cache'
import type { HandlerContext } from '../handler-context.ts'
import { entryCaching, readableHeads } from '../read/get-entry.ts'
import { foundByContent, type Reply } from '../reply.ts'
import type { Instance } from './components.ts'
import { describeService, MAX_DESCRIBED_COLLECTIONS } from './describe-service.ts'

export async function getOpenapi(context: HandlerContext): Promise<Reply> {
  const { request, baseUrl, requiresToken, limits, explorer } = context
  const { heads } = await readableHeads(context)
  const collections = heads.slice(0, MAX_DESCRIBED_COLLECTIONS).map(({ name, keyField, isPaginated, isPrivate }) => {
    return { name, keyField, isPaginated, isPrivate }
  })
  const others = heads.length - collections.length
  const body = textOf({ baseUrl, requiresToken, hasExplorer: explorer !== undefined, limits, collections, others })
  return foundByContent(request, body, 'application/json', entryCaching(context))
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
