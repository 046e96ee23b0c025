/** `GET /-/health`: whether the store can be read now. */

import type { Call } from './call.ts'
import { contentHeaders } from './content-headers.ts'
import { failure } from './failure.ts'
import type { Reply } from './reply.ts'

export async function getHealth(call: Call): Promise<Reply> {
  let away: readonly string[]
  try {
    away = await call.store.ping()
  } catch (error) {
    call.onError(error, call.request)
    return failure(call.baseUrl, error)
  }
  // Not which servers: anybody may ask.
  const body = `{"status":"${away.length === 0 ? 'ok' : 'degraded'}"}\n`
  const headers = { ...contentHeaders('application/json', body.length), 'Cache-Control': 'no-store' }
  return { status: 200, headers, body }
}
