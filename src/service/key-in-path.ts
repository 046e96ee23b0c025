/** The key that a path names. */

import { type Call, segmentsOf } from './call.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'

/** Throws a Refusal when no item can have that key. */
export function keyInPath(call: Call): string {
  const key = decodedKey(call)
  if (key === undefined) throw undecodableKey(call)
  return key
}

/** Undefined when a percent sign begins no escape, or the bytes are not UTF-8. */
export function decodedKey(call: Call): string | undefined {
  try {
    return decodeURIComponent(segmentOf(call))
  } catch {
    return undefined
  }
}

export function undecodableKey(call: Call): Refusal {
  const problem = call.request.method === 'PUT' ? 'key-mismatch' : 'item-not-found'
  return new Refusal(problem, `The key ${quoted(segmentOf(call))} is not percent-encoded UTF-8.`)
}

function segmentOf(call: Call): string {
  return segmentsOf(call)[1] ?? ''
}
