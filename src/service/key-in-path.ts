/** The key that a path names. */

import { type Call, segmentsOf } from './call.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'

/** Throws a Refusal when a percent sign begins no escape, or the bytes are not UTF-8. */
export function keyInPath(call: Call): string {
  const [, segment = ''] = segmentsOf(call)
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal('item-not-found', `The key ${quoted(segment)} is not percent-encoded UTF-8.`)
  }
}
