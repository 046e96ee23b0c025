/**
 * One case of each problem, as the service really words it, by the operations that can have it. A test compares them with
 * its answers.
 */

import { isProblemName, PROBLEMS, type Problem, type ProblemName, problem } from '../../contract/problem.ts'

/** Any request. */
const COMMON = {
  'malformed-request': 'The request has no Host header.',
  unauthorized: 'The token is not valid.',
  'request-timeout': 'The head of the request was not complete in time.',
  'misdirected-request': 'The request is for the host "data.example".',
  'header-too-large': 'The request line and headers are larger than 16384 bytes.',
  'internal-error': 'The request could not be answered.',
  'store-unavailable': 'The store did not answer.',
}

/** Any write. */
const WRITE = {
  'invalid-name': '"Events" is not 1 to 64 of a-z 0-9 _ - . and the first one a letter or a digit.',
  'invalid-idempotency-key': 'The Idempotency-Key is not 1 to 255 visible ASCII characters.',
  forbidden: 'The token has no scope "write:events".',
  'collection-not-found': 'There is no collection "nope".',
  'outcome-unknown': 'No certain answer came from the store while it committed the write.',
  'collection-busy': 'An import, a copy or a compaction of this collection is under way.',
  'store-full': 'There is no room for this write.',
}

/** Any write with a body; only such a one can be sent again with another body. */
const BODY = {
  'invalid-body': 'The body is empty.',
  'content-too-large': 'The body has 20,001 bytes; at most 20,000 are taken.',
  'unsupported-media-type': 'The Content-Type is "text/plain".',
  'idempotency-conflict': 'A request with this key was answered before, and it was another one.',
  'service-busy': 'Other requests with this token hold 30,000 of the 40,000 bytes that there are for bodies.',
}

const DETAILS: Readonly<Record<ProblemName, string>> = {
  ...COMMON,
  ...WRITE,
  ...BODY,
  'invalid-page': 'The parameter "page" is "0", which is not a page number.',
  'item-not-found': 'The collection "events" has no item with the key "nope".',
  'path-not-found': 'There is nothing at "/-/problems/nope".',
  'method-not-allowed': '"PATCH" is not available at "/events".',
  'invalid-item': 'The body: the key field "id" is missing.',
  'key-mismatch': 'The path has the key "7", the item "8".',
  conflict: 'An item with the key "7" is there already.',
  'precondition-failed': 'There is a collection "events" already.',
  'precondition-required': 'Dropping a collection needs If-Match.',
}

export const COMMON_PROBLEMS = Object.keys(COMMON).filter(isProblemName)
export const WRITE_PROBLEMS = Object.keys(WRITE).filter(isProblemName)
export const BODY_PROBLEMS = Object.keys(BODY).filter(isProblemName)

export function problemExample(baseUrl: string, name: ProblemName): Problem {
  return problem(baseUrl, name, DETAILS[name])
}

/** By name. No operation answers that its method is not allowed. */
export function problemExamples(baseUrl: string): Readonly<Record<string, unknown>> {
  const names = Object.keys(PROBLEMS).filter(isProblemName)
  const examples = names.map((name) => {
    const { title, hint } = PROBLEMS[name]
    return [name, { summary: title, description: hint, value: problemExample(baseUrl, name) }]
  })
  return Object.fromEntries(examples.filter(([name]) => name !== 'method-not-allowed'))
}
