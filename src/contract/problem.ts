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
    title: 'The request is malformed',
    description: 'The request line, the Host header, a parameter or another part of the request is not valid.',
    hint: 'Send a well-formed HTTP/1.1 request with one valid Host header.',
  },
  unauthorized: {
    status: 401,
    title: 'A token is needed, or this one is not valid',
    description:
      'Writes need a token, and so do reads if the service requires one. A malformed, unknown, expired or revoked token is refused everywhere.',
    hint: 'Send a valid token as "Authorization: Bearer reams_…".',
  },
  'collection-not-found': {
    status: 404,
    title: 'There is no such collection',
    description: 'You can read no collection with that name here. Names are lower case and end without a slash.',
    hint: 'The entry point lists the collections.',
  },
  'state-not-found': {
    status: 404,
    title: 'The collection never was in this state',
    description:
      'What follows the `@` is not the tag of a state of this collection: it is malformed, or was given out by another collection, by one of the same name that was dropped, or before a backup was restored.',
    hint: 'Follow the "snapshot" link of a live page: tags cannot be made up.',
  },
  'state-expired': {
    status: 410,
    title: 'This state is no longer kept',
    description:
      'The collection was in this state, but its history does not reach back so far any more: that is a matter of time, of size, or was asked for.',
    hint: 'Begin again: read a live page, and follow its "snapshot" link.',
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
    description: 'The path is not a collection, an item or one of the service’s own paths.',
    hint: 'The entry point lists the collections.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not available here',
    description: 'The resource does not support that method. The Allow header lists those that it does.',
    hint: 'Use one of the methods in the Allow header.',
  },
  'invalid-body': {
    status: 400,
    title: 'The body is not what is expected',
    description:
      'The body is not valid JSON or NDJSON in UTF-8, is truncated, cannot be decompressed, or does not have the form that this request expects.',
    hint: 'Send one JSON object, a JSON array of objects, or NDJSON, as the Content-Type says.',
  },
  'invalid-item': {
    status: 400,
    title: 'An item is not valid',
    description:
      'An item is not a JSON object, is nested too deeply, or has no valid key, or a line of a PATCH is not a change. Nothing of the request was written.',
    hint: 'Fix the item or the line that the detail names, and send all of them again.',
  },
  'key-mismatch': {
    status: 400,
    title: 'The key is not that of the item',
    description: 'The item has a different key than the path, or than its line in a PATCH.',
    hint: 'Send the item with its own key: in the path, or as "key" on its line.',
  },
  'invalid-name': {
    status: 400,
    title: 'A collection cannot have that name',
    description: 'A name has 1 to 64 characters of a-z 0-9 _ - . and begins with a letter or a digit.',
    hint: 'Choose another name.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    description: 'An Idempotency-Key is 1 to 255 visible ASCII characters, given once.',
    hint: 'Send a random one, such as a UUID, or none.',
  },
  forbidden: {
    status: 403,
    title: 'The token may not do this',
    description: 'The token is valid, but its scopes do not include this request.',
    hint: 'Use a token with the scope that the detail names.',
  },
  'read-only': {
    status: 403,
    title: 'The service only reads',
    description: 'The service may read its store and not change it. No token makes a difference.',
    hint: 'Write to the service that changes this store; its operator knows which one that is.',
  },
  conflict: {
    status: 409,
    title: 'The request does not fit the collection',
    description:
      'A key already exists, a key to delete does not, the collection has different settings or no key, it was dropped and created again in the meantime, or it is unpaginated and full. Nothing was written.',
    hint: 'Check the collection, and send a request that fits it.',
  },
  'collection-mirrored': {
    status: 409,
    title: 'The collection is a mirror',
    description: 'The collection is a copy of another one, and changes only with that. Nothing was written.',
    hint: 'Write to the collection that the detail names. Its operator can make this one a collection of its own: reams set NAME --detach.',
  },
  'precondition-failed': {
    status: 412,
    title: 'A condition of the request does not hold',
    description: 'If-Match or If-None-Match names a state that is not, or no longer, the current one.',
    hint: 'Read the resource again, then decide whether to repeat the request.',
  },
  'content-too-large': {
    status: 413,
    title: 'The request is too large',
    description:
      'The body, compressed or decompressed, one of its items, or the number of its items or changes exceeds a limit of the service, or its compression ratio is so high that it looks like a bomb. Nothing was written.',
    hint: 'Send less at a time; the limits are settings of the service.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The type of the body is not supported',
    description:
      'Items are accepted as application/json and application/x-ndjson, plain or with Content-Encoding: gzip; changes only as application/x-ndjson, settings only as application/json.',
    hint: 'Send items with Content-Type: application/json or application/x-ndjson, and no Content-Encoding except gzip. With curl: -H "Content-Type: application/json".',
  },
  'misdirected-request': {
    status: 421,
    title: 'The request is for another host',
    description:
      'The service listens on loopback without a base URL, so it accepts only the hosts `localhost`, `127.0.0.1` and `[::1]`. This protects against DNS rebinding.',
    hint: 'Use localhost, 127.0.0.1 or [::1], or start the service with the address that clients use, such as --base-url https://api.example.com.',
  },
  'idempotency-conflict': {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    description: 'A request with this key but a different body was answered within the last 24 hours.',
    hint: 'Use a new key for a new request.',
  },
  'precondition-required': {
    status: 428,
    title: 'The request needs a condition',
    description: 'A collection is dropped only with If-Match and the current ETag of one of its pages.',
    hint: 'Read a page, and send its ETag as If-Match.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    description: 'The head of the request was not complete within a minute, or all of it within five.',
    hint: 'Send the whole request at once, and less of it if the connection is slow.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    description:
      'The caller has sent more requests than the service accepts in this time. Reads and writes are counted apart: by token, or by address if there is no valid token. Nothing was read or written.',
    hint: 'Wait for the number of seconds in the Retry-After header, and send the request again.',
  },
  'header-too-large': {
    status: 431,
    title: 'The request line and headers are too large',
    description: 'The URL and the headers of the request together are larger than the service accepts (16 KiB).',
    hint: 'Shorten the URL or leave out headers, for example cookies.',
  },
  'internal-error': {
    status: 500,
    title: 'The service failed',
    description: 'An unexpected error occurred. The log of the service has the details.',
    hint: 'Try again; if the problem persists, tell the operator of the service.',
  },
  'store-unavailable': {
    status: 503,
    title: 'The store is not available',
    description:
      'The service runs but cannot use its store at the moment: the store is down, starting, out of connections, too slow, damaged, or read-only.',
    hint: 'Try again in a moment; if the problem persists, tell the operator of the service.',
  },
  'outcome-unknown': {
    status: 503,
    title: 'It is unknown whether the write was done',
    description:
      'The database was asked to commit the write and gave no definite answer, for example because the connection was lost: either all of the write was done, or nothing. With an Idempotency-Key the service finds out by itself, and gives this error only if the database stays unavailable.',
    hint: 'Send the request again with the same Idempotency-Key. Without one, check whether it was done before you send it again.',
  },
  'collection-busy': {
    status: 503,
    title: 'The collection is being loaded',
    description: 'An import or a copy of this collection is running, and nobody else can write to it until it ends.',
    hint: 'Try again in a moment.',
  },
  'service-busy': {
    status: 503,
    title: 'The service is busy with other requests',
    description:
      'The bodies of the requests in progress use all the memory reserved for them: four times the largest body, and twice the largest body for one token. Nothing was written.',
    hint: 'Try again in a moment, or send less at a time.',
  },
  'http-version-not-supported': {
    status: 505,
    title: 'This version of HTTP is not supported',
    description:
      'The request line names a version of HTTP other than 1.0 and 1.1, or none. HTTP/2 and HTTP/3 need a proxy in front of the service.',
    hint: 'Send the request as HTTP/1.1.',
  },
  'store-full': {
    status: 507,
    title: 'The disk is full',
    description:
      'There is no room for this write on the disk of the store, apart from a reserve for operations that free space. Nothing of it was kept. Reads still work, and so does `DELETE` of a collection.',
    hint: 'Drop history (`reams forget NAME`) or collections, or free space on the disk. Writes then work again without a restart.',
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
  /** By which the operator finds the request in the log. */
  readonly request_id?: string
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
