/** The answer to a write that is done: it is on disk by now. */

import { contentHeaders } from './content-headers.ts'
import type { Reply } from './reply.ts'

export function written(status: 200 | 201, outcome: object, headers: Record<string, string> = {}): Reply {
  // A text, not bytes: Node then sends it in one piece with the headers.
  const body = `${JSON.stringify(outcome)}\n`
  const own = { ...contentHeaders('application/json', Buffer.byteLength(body)), 'Cache-Control': 'no-store' }
  return { status, headers: { ...own, ...headers }, body }
}
