/** One request on its way through the service, and what answers it. */

import type { Store } from '../store/store.ts'
import type { Caller } from './access.ts'
import type { BodyShare } from './body-memory.ts'
import type { GzipSplice } from './gzip-splice.ts'
import type { Limits } from './limits.ts'

/** All that a handler needs. */
export interface Call {
  readonly request: Request
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
  readonly spliceGzip: GzipSplice
  /** Takes an error whose text must not stand in the answer. */
  readonly onError: (error: unknown, request: Request) => void
}

export type Handler = (call: Call) => Response | Promise<Response>

/** The segments of the path after its first slash. */
export function segmentsOf(call: Call): string[] {
  return call.path.slice(1).split('/')
}
