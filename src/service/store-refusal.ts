/** What a store refuses, as a problem. */

import type { ProblemName } from '../contract/problem.ts'
import type { ProblemOptions } from './problem-response.ts'
import { Refusal } from './refusal.ts'

/** The problem for a code of the store, and the detail where the store's own words are not for strangers or not for HTTP. */
const PROBLEM_OF = new Map<unknown, readonly [name: ProblemName, detail?: string]>([
  ['key-conflict', ['conflict']],
  ['settings-differ', ['conflict']],
  ['collection-changed', ['conflict']],
  ['unpaginated-full', ['conflict']],
  ['no-key-field', ['conflict', 'The collection was created meanwhile, and not with the key that was expected.']],
  ['no-item', ['item-not-found']],
  ['no-collection', ['collection-not-found', 'There is no such collection, or no longer.']],
  ['invalid-name', ['invalid-name']],
  ['precondition-failed', ['precondition-failed']],
  ['request-differs', ['idempotency-conflict']],
  ['busy', ['collection-busy', 'An import, a copy or a compaction of this collection is under way.']],
  ['full', ['store-full', 'There is no room for this write.']],
])

const RETRY: ProblemOptions = { headers: { 'Retry-After': '1' } }

/** A Refusal for what the sender can do something about; any other error as it is. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  const isFromStore = error.name === 'StoreError' || error.name === 'ItemConflict'
  const [name, detail = error.message] = (isFromStore ? PROBLEM_OF.get(error.code) : undefined) ?? []
  return name === undefined ? error : new Refusal(name, detail, name === 'collection-busy' ? RETRY : {})
}
