/** One request on its way through the service, and what answers it. */

import type { Explorer } from '../explorer/create-explorer.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './access.ts'
import type { BodyShare } from './body-memory.ts'
import type { HtmlPages } from './html-pages.ts'
import type { Incoming } from './incoming.ts'
import type { Limits } from './limits.ts'
import type { PageCache } from './page-cache.ts'
import type { Reply } from './reply.ts'
import type { SharedHeads } from './shared-heads.ts'

/** All that a handler needs. */
export interface Call {
  readonly request: Incoming
  /** The path as it came, nothing decoded, without the path of the base URL. */
  readonly path: string
  /** What links in the answer begin with. */
  readonly baseUrl: string
  readonly store: Store
  readonly caller: Caller
  /** Whether the service answers only those with a token. */
  readonly requiresToken: boolean
  readonly limits: Limits
  /** What the body of this request may hold of the memory for all bodies. */
  readonly bodyShare: BodyShare
  readonly heads: SharedHeads
  /** Pages that were sent before. */
  readonly pages: PageCache
  readonly htmlPages: HtmlPages
  /** Makes pages for browsers; undefined where there are to be none. */
  readonly explorer: Explorer | undefined
  /** Takes an error whose text must not stand in the answer. */
  readonly onError: (error: unknown, request: Incoming) => void
}

export type Handler = (call: Call) => Reply | Promise<Reply>

/** The segments of the path after its first slash. */
export function segmentsOf(call: Call): string[] {
  return call.path.slice(1).split('/')
}
