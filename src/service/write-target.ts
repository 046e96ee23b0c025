/** The collection that a write is for. */

import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import type { Head } from '../store/store.ts'
import { hasNoScope, requireWrite } from './access.ts'
import { type Call, segmentsOf } from './call.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'

export interface WriteTarget {
  readonly name: string
  readonly head: Head | undefined
  readonly state: 'exists' | 'is created'
}

/** Throws a Refusal where the caller may not write, or nothing can have that name. */
export async function writeTarget(call: Call): Promise<WriteTarget> {
  const [name = ''] = segmentsOf(call)
  const options = { isPublicOnly: hasNoScope(call.caller, name) }
  const head = isCollectionName(name) ? await call.store.head(name, options) : undefined
  const state = requireWrite(call.caller, name, head)
  if (!isCollectionName(name)) throw new Refusal('invalid-name', `${quoted(name)} is not ${NAME_RULE}.`)
  return { name, head, state }
}
