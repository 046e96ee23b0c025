/** The ways in which there is nothing to answer with. */

import type { Call } from './call.ts'
import { problemResponse, quoted } from './problem-response.ts'
import type { Reply } from './reply.ts'

export function collectionNotFound(call: Call, name: string): Reply {
  return problemResponse(call.baseUrl, 'collection-not-found', `There is no collection ${quoted(name)}.`)
}

export function itemNotFound(call: Call, detail: string): Reply {
  return problemResponse(call.baseUrl, 'item-not-found', detail)
}

export function pathNotFound(call: Call): Reply {
  const detail = `There is nothing at ${quoted(call.path)}.`
  const options = call.path.endsWith('/') ? { hint: 'Leave out the slash at the end.' } : {}
  return problemResponse(call.baseUrl, 'path-not-found', detail, options)
}
