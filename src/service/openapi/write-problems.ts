/** The problems that writes have in common. */

import type { ProblemName } from '../../contract/problem.ts'

export const WRITE_PROBLEMS: readonly ProblemName[] = [
  'invalid-name',
  'invalid-idempotency-key',
  'forbidden',
  'collection-not-found',
  'outcome-unknown',
  'collection-busy',
  'store-full',
]

/** Of those with a body; only these can be sent again with another one. */
export const BODY_PROBLEMS: readonly ProblemName[] = [
  'invalid-body',
  'content-too-large',
  'unsupported-media-type',
  'idempotency-conflict',
  'service-busy',
]
