/** What a store refuses, as a problem. */

import type { ProblemName } from '../contract/problem.ts'
import type { ProblemOptions } from './problem-response.ts'
import { Refusal } from './refusal.ts'

const PROBLEM_OF: Readonly<Record<string, ProblemName>> = {
  'key-conflict': 'conflict',
  'settings-differ': 'conflict',
  'collection-changed': 'conflict',
  'unpaginated-full': 'conflict',
  'no-key-field': 'conflict',
  'no-item': 'item-not-found',
  'no-collection': 'collection-not-found',
  'invalid-name': 'invalid-name',
  'precondition-failed': 'precondition-failed',
  'request-differs': 'idempotency-conflict',
  busy: 'collection-busy',
  full: 'store-full',
}

const RETRY: ProblemOptions = { headers: { 'Retry-After': '1' } }

/** A Refusal for what the sender can do something about; any other error as it is. */
export function refusalOf(error: unknown): unknown {
  const { name, code, message } =
    error instanceof Error && 'code' in error ? error : { name: '', code: '', message: '' }
  const problem = name === 'StoreError' || name === 'ItemConflict' ? PROBLEM_OF[String(code)] : undefined
  if (problem === undefined) return error
  // What a full disk says names the path of the store.
  const detail = problem === 'store-full' ? 'There is no room for this write.' : message
  return new Refusal(problem, detail, problem === 'collection-busy' ? RETRY : {})
}
