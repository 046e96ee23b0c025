/** All that a handler needs to answer a request. */

import { isCollectionName } from '../contract/name.ts'
import type { Explorer } from '../explorer/create-explorer.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './access.ts'
import type { BodyShare } from './body-memory.ts'
import type { Incoming } from './incoming.ts'
import type { Limits } from './limits.ts'
import type { RateLimits } from './rate-limit.ts'
import type { ChangeWatch } from './read/change-watch.ts'
import type { FindHtml, PageCache, ReadHead } from './read/page-cache.ts'
import type { Reply } from './reply.ts'
import type { RequestFacts } from './request-record.ts'

export interface HandlerContext {
  readonly request: Incoming
  /** For the log: handlers note what the request is about. */
  readonly facts: RequestFacts
  /** The path as it came, nothing decoded, without the path of the base URL. */
  readonly path: string
  /** What links in the reply begin with. */
  readonly baseUrl: string
  readonly store: Store
  readonly caller: Caller
  /** Whether the service answers only those with a token. */
  readonly requiresToken: boolean
  /** Whether POST and PATCH create a collection that does not exist. */
  readonly createsOnWrite: boolean
  readonly limits: Limits
  readonly rateLimits: RateLimits
  /** The share of this request in the memory for all bodies. */
  readonly bodyShare: BodyShare
  readonly readHead: ReadHead
  /** Tells when a collection changes. */
  readonly changes: ChangeWatch
  /** Pages that were sent before. */
  readonly pages: PageCache
  /** Pages for browsers that were sent before. */
  readonly findHtml: FindHtml
  /** Makes pages for browsers; undefined where the explorer is off. */
  readonly explorer: Explorer | undefined
}

export type Handler = (context: HandlerContext) => Reply | Promise<Reply>

/** The segments of the path after its first slash. */
export function segmentsOf({ path }: HandlerContext): string[] {
  return path.slice(1).split('/')
}

/** The collection that the path names, be it a valid name or not. Noted for the log. */
export function collectionOf(context: HandlerContext): string {
  const [name = ''] = segmentsOf(context)
  if (isCollectionName(name)) context.facts.collection = name
  return name
}

/** The key in the path, decoded; undefined when it is not percent-encoded UTF-8. */
export function keyOf(context: HandlerContext): string | undefined {
  try {
    return decodeURIComponent(segmentsOf(context)[1] ?? '')
  } catch {
    return undefined
  }
}
