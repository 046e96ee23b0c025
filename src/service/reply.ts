/** An answer before it is sent: written to a socket as it is, or handed out as a Response. */

import type { Problem } from '../contract/problem.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | null
  /** Called when the body has gone out, if it has: nobody may look at it afterwards. */
  readonly onSent?: () => void
  /** What the body says, where it is a problem. */
  readonly problem?: Problem
}

/** The answer to what is done, and has nothing to show. */
export const DONE: Reply = { status: 204, headers: {}, body: null }

export function responseOf({ status, headers, body }: Reply): Response {
  // The cast: a body may not lie in memory shared between threads, and no store hands out such.
  return new Response(body as Uint8Array<ArrayBuffer> | string | null, { status, headers })
}
