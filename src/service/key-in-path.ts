/** The key that a path names. */

import { type Call, segmentsOf } from './call.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'

/** Throws a Refusal when a percent sign begins no escape, or the bytes are not UTF-8: no item can have such a key. */
export function keyInPath(call: Call): string {
  const [, segment = ''] = segmentsOf(call)
  try {
    return decodeURIComponent(segment)
  } catch {
    const problem = call.request.method === 'PUT' ? 'key-mismatch' : 'item-not-found'
    throw new Refusal(problem, `The key ${quoted(segment)} is not percent-encoded UTF-8.`)
  }
}
