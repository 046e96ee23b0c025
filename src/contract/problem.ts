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

/** Every problem by its name, the last part of its `type`. */
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
      'Writes need a token, and so do reads where the service asks for it. A token that is malformed, unknown, expired or revoked is refused everywhere.',
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
  'invalid-body': {
    status: 400,
    title: 'The body is not what is expected',
    description:
      'The body is not valid JSON or NDJSON in UTF-8, breaks off, cannot be unpacked, or is not of the form that this request takes.',
    hint: 'Send one JSON object, a JSON array of objects, or NDJSON, as the Content-Type says.',
  },
  'invalid-item': {
    status: 400,
    title: 'An item is not valid',
    description:
      'An item is not a JSON object, is nested too deep, or has no key that can be one. Nothing of the request was written.',
    hint: 'Mend the item that the detail names, and send all of them again.',
  },
  'key-mismatch': {
    status: 400,
    title: 'The key in the path is not that of the item',
    description: 'The item holds another key than the path.',
    hint: 'Send the item to the path of its own key.',
  },
  'invalid-name': {
    status: 400,
    title: 'A collection cannot have that name',
    description: 'A name is 1 to 64 of a-z 0-9 _ - . and begins with a letter or a digit.',
    hint: 'Choose another name.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The Idempotency-Key cannot be used',
    description: 'An Idempotency-Key is 1 to 255 visible ASCII characters, given once.',
    hint: 'Send a random one, such as a UUID, or none.',
  },
  forbidden: {
    status: 403,
    title: 'The token may not do this',
    description: 'The token is valid, and its scopes do not include this request.',
    hint: 'Use a token with the scope that the detail names.',
  },
  conflict: {
    status: 409,
    title: 'The request does not fit the collection',
    description:
      'A key is there already, the collection has other settings or no key, it was created anew meanwhile, or it is unpaginated and full. Nothing was written.',
    hint: 'Look at the collection, and send what fits it.',
  },
  'precondition-failed': {
    status: 412,
    title: 'A condition of the request does not hold',
    description: 'If-Match or If-None-Match names a state that is not, or no longer, the current one.',
    hint: 'Read the resource again, and decide anew.',
  },
  'content-too-large': {
    status: 413,
    title: 'The request is too large',
    description:
      'The body, unpacked or not, an item of it, or the number of its items is above a limit of the service, or it is packed far too tightly. Nothing was written.',
    hint: 'Send less at a time; the limits are settings of the service.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The type of the body is not taken',
    description:
      'Items are taken as application/json and application/x-ndjson, plain or with Content-Encoding: gzip; settings as application/json.',
    hint: 'Set the Content-Type, and no Content-Encoding but gzip.',
  },
  'misdirected-request': {
    status: 421,
    title: 'The request is for another host',
    description:
      'The service listens on loopback and was told no address of its own, so it answers only for `localhost`, `127.0.0.1` and `[::1]`. A web page whose host was made to point here gets nothing.',
    hint: 'Ask for localhost, 127.0.0.1 or [::1], or start the service with the address that clients use, such as --base-url https://api.example.com.',
  },
  'idempotency-conflict': {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    description: 'A request with this key was answered within the last 24 hours, and its body was another one.',
    hint: 'Take a new key for a new request.',
  },
  'precondition-required': {
    status: 428,
    title: 'The request needs a condition',
    description: 'A collection is dropped only with If-Match and the ETag of one of its pages as it is now.',
    hint: 'Read a page, and send its ETag as If-Match.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    description: 'The head of the request was not complete within a minute, or all of it within five.',
    hint: 'Send the whole request at once, and less of it if the connection is slow.',
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
    title: 'The store is not available',
    description:
      'The service runs but cannot use its store at the moment: it is down, starting, out of connections, too slow, damaged, or takes no writes.',
    hint: 'Try again in a moment; if it stays, tell whoever runs the service.',
  },
  'outcome-unknown': {
    status: 503,
    title: 'Nobody knows whether the write was done',
    description:
      'The database was asked to commit the write and gave no certain answer, as when the connection is lost: all of the write was done, or nothing. With an Idempotency-Key the service finds out by itself, and answers so only when the database stays away.',
    hint: 'Send the request again with the Idempotency-Key it had. Without one, look whether it was done before sending it again.',
  },
  'collection-busy': {
    status: 503,
    title: 'The collection is being loaded',
    description:
      'An import, a copy or a compaction of this collection is under way, and until it ends nobody else can write to it.',
    hint: 'Try again in a moment.',
  },
  'service-busy': {
    status: 503,
    title: 'The service is busy with other requests',
    description:
      'The bodies of the requests under way fill the memory that there is for them: four times the largest body, and twice for the requests of one token. Nothing was written.',
    hint: 'Try again in a moment, or send less at a time.',
  },
  'store-full': {
    status: 507,
    title: 'The disk is full',
    description: 'There is no room for this write on the disk of the store. Nothing of it was kept; reads go on.',
    hint: 'Free some space, and send the request again.',
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

/** Whether there is a problem of that name. */
export function isProblemName(text: string): text is ProblemName {
  return Object.hasOwn(PROBLEMS, text)
}

/** The body of one occurrence: `detail` names the value at fault. */
export function problem(baseUrl: string, name: ProblemName, detail: string, hint?: string): Problem {
  const kind = PROBLEMS[name]
  return { type: problemUrl(baseUrl, name), title: kind.title, status: kind.status, detail, hint: hint ?? kind.hint }
}
