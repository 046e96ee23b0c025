/** The catalogue of all problems that the service can answer with: RFC 9457 problem details (D14). */

import { problemUrl } from './link.ts'

/** What is the same in every occurrence of a problem. */
export interface ProblemKind {
  readonly status: number
  readonly title: string
  /** For the page that the `type` URL leads to, and for the reference. */
  readonly description: string
  /** What to do about it. An occurrence can give a better one. */
  readonly hint: string
}

export const PROBLEMS = {
  'invalid-page': {
    status: 400,
    title: 'The page parameter is not a page number',
    description:
      'The value of `page` is not one or more of the digits 0 to 9 with a value of at least 1, or `page` is given more than once.',
    hint: 'Ask for page=1 or any larger whole number, or leave the parameter out for the first page.',
  },
  'malformed-request': {
    status: 400,
    title: 'The request cannot be read',
    description: 'The request line, the Host header or another part of the request is not valid HTTP.',
    hint: 'Send a well-formed HTTP/1.1 request with one valid Host header.',
  },
  unauthorized: {
    status: 401,
    title: 'A token is needed, or this one is not valid',
    description:
      'The service answers only those with a token, or the token is malformed, unknown, expired or revoked, which is refused everywhere.',
    hint: 'Send a valid token as "Authorization: Bearer reams_…".',
  },
  'collection-not-found': {
    status: 404,
    title: 'There is no such collection',
    description: 'No collection of that name can be read here. Names are lower case and end without a slash.',
    hint: 'The entry point lists the collections.',
  },
  'item-not-found': {
    status: 404,
    title: 'There is no such item',
    description: 'The collection has no item with that key, or it was created without a key field.',
    hint: 'Look for the item on the pages of the collection.',
  },
  'path-not-found': {
    status: 404,
    title: 'There is nothing at this path',
    description: 'The path is neither a collection nor an item nor one of the service’s own.',
    hint: 'The entry point lists the collections.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not available here',
    description: 'The resource does not have that method. The Allow header lists those that it has.',
    hint: 'Use one of the methods in the Allow header.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    description: 'The head of the request was not complete in time.',
    hint: 'Send the whole request at once.',
  },
  'header-too-large': {
    status: 431,
    title: 'The request line and headers are too large',
    description: 'The URL and the headers of the request together are larger than the service takes (16 KiB).',
    hint: 'Shorten the URL or leave out headers, cookies for instance.',
  },
  'internal-error': {
    status: 500,
    title: 'The service failed',
    description: 'Something went wrong that the service did not foresee. Its log has the details.',
    hint: 'Try again; if it stays, tell whoever runs the service.',
  },
  'store-unavailable': {
    status: 503,
    title: 'The store cannot be read',
    description: 'The service runs but cannot read its store at the moment.',
    hint: 'Try again in a moment; if it stays, tell whoever runs the service.',
  },
} as const satisfies Record<string, ProblemKind>

export type ProblemName = keyof typeof PROBLEMS

/** The body of one occurrence. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly hint: string
}

export function isProblemName(text: string): text is ProblemName {
  return Object.hasOwn(PROBLEMS, text)
}

export function problem(baseUrl: string, name: ProblemName, detail: string, hint?: string): Problem {
  const kind = PROBLEMS[name]
  return { type: problemUrl(baseUrl, name), title: kind.title, status: kind.status, detail, hint: hint ?? kind.hint }
}
