/** One occurrence of each problem, as the service really words it. A test compares them with its answers. */

import { type Problem, type ProblemName, problem } from '../../contract/problem.ts'

const DETAILS: Readonly<Record<ProblemName, string>> = {
  'invalid-page': 'The parameter "page" is "0", which is not a page number.',
  'malformed-request': 'The request has no Host header.',
  unauthorized: 'The token is not valid.',
  'collection-not-found': 'There is no collection "nope".',
  'item-not-found': 'The collection "events" has no item with the key "nope".',
  'path-not-found': 'There is nothing at "/-/problems/nope".',
  'method-not-allowed': '"PATCH" is not available at "/events".',
  'invalid-body': 'The body is empty.',
  'invalid-item': 'The body: the key field "id" is missing.',
  'key-mismatch': 'The path has the key "7", the item "8".',
  'invalid-name': '"Events" is not 1 to 64 of a-z 0-9 _ - . and the first one a letter or a digit.',
  'invalid-idempotency-key': 'The Idempotency-Key is not 1 to 255 visible ASCII characters.',
  forbidden: 'The token has no scope "write:events".',
  conflict: 'An item with the key "7" is there already.',
  'precondition-failed': 'There is a collection "events" already.',
  'content-too-large': 'The body has 20,001 bytes; at most 20,000 are taken.',
  'unsupported-media-type': 'The Content-Type is "text/plain".',
  'misdirected-request': 'The request is for the host "data.example".',
  'idempotency-conflict': 'A request with this key was answered before, and it was another one.',
  'precondition-required': 'Dropping a collection needs If-Match.',
  'request-timeout': 'The head of the request was not complete in time.',
  'header-too-large': 'The request line and headers are larger than 16384 bytes.',
  'internal-error': 'The request could not be answered.',
  'store-unavailable': 'The store did not answer.',
  'outcome-unknown': 'No certain answer came from the store while it committed the write.',
  'collection-busy': 'An import, a copy or a compaction of this collection is under way.',
  'service-busy': 'Other requests with this token hold 30,000 of the 40,000 bytes that there are for bodies.',
  'store-full': 'There is no room for this write.',
}

export function problemExample(baseUrl: string, name: ProblemName): Problem {
  return problem(baseUrl, name, DETAILS[name])
}
