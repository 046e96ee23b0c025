/** `/-/json/…`: the same data as without it, also for a browser, whose headers cannot say that it does not want HTML. */

import type { Handler } from './call.ts'

const PREFIX = '/-/json'

export function asData(handler: Handler): Handler {
  return (call) => handler({ ...call, path: call.path.slice(PREFIX.length) })
}
