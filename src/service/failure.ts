/** Answers to errors that are not the client's. Nothing of the error itself stands in them. */

import { problemResponse } from './problem-response.ts'
import type { Reply } from './reply.ts'

/** Whatever a store refuses while it is read means that it cannot be read; any other error is a fault of ours. */
export function failure(baseUrl: string, error: unknown): Reply {
  return error instanceof Error && error.name === 'StoreError' ? storeUnavailable(baseUrl) : internalError(baseUrl)
}

export function storeUnavailable(baseUrl: string): Reply {
  return problemResponse(baseUrl, 'store-unavailable', 'The store did not answer.')
}

export function internalError(baseUrl: string): Reply {
  return problemResponse(baseUrl, 'internal-error', 'The request could not be answered.')
}
