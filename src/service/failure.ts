/** Answers to errors that are not the client's. Nothing of the error's own words stands in them. */

import { type ProblemOptions, problemResponse, quoted } from './problem-response.ts'
import type { Reply } from './reply.ts'

/** What passes by itself, in most cases within seconds. */
const PASSING = new Map<unknown, string>([
  ['unavailable', 'The store did not answer.'],
  ['overloaded', 'Too many others wait for the store.'],
  ['read-only', 'The store takes no writes now.'],
])

const RETRY: ProblemOptions = { headers: { 'Retry-After': '1' } }

/** Whatever else a store refuses while it is used means that it cannot be; any other error is a fault of ours. */
export function failure(baseUrl: string, error: unknown): Reply {
  if (!(error instanceof Error && error.name === 'StoreError' && 'code' in error)) return internalError(baseUrl)
  if (error.code === 'outcome-unknown') return outcomeUnknown(baseUrl)
  return error.code === 'corrupt' ? damaged(baseUrl, error) : storeUnavailable(baseUrl, error.code)
}

/** The store names a collection only to those who may know that there is one. */
function damaged(baseUrl: string, error: object): Reply {
  const where = 'collection' in error ? `The collection ${quoted(String(error.collection))}` : 'The store'
  const hint = 'Tell whoever runs the service.'
  return problemResponse(baseUrl, 'store-unavailable', `${where} is damaged.`, { hint })
}

function storeUnavailable(baseUrl: string, code: unknown): Reply {
  const detail = PASSING.get(code)
  const options = detail === undefined ? {} : RETRY
  return problemResponse(baseUrl, 'store-unavailable', detail ?? 'The store cannot be used.', options)
}

/** Without Retry-After: whoever follows it blindly could write twice. */
function outcomeUnknown(baseUrl: string): Reply {
  return problemResponse(
    baseUrl,
    'outcome-unknown',
    'No certain answer came from the store while it committed the write.',
  )
}

export function internalError(baseUrl: string): Reply {
  return problemResponse(baseUrl, 'internal-error', 'The request could not be answered.')
}
