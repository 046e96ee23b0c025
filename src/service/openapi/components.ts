/** The parts that the paths of the OpenAPI document refer to: schemas, parameters, headers, and an example of each problem. */

import { keyFieldNames } from '../../contract/key.ts'
import { itemUrl, problemUrl } from '../../contract/link.ts'
import { NAME_PATTERN } from '../../contract/name.ts'
import { PAGE_SIZE, UNPAGINATED_LIMIT } from '../../contract/page.ts'
import { isProblemName, PROBLEMS, type Problem, type ProblemName, problem } from '../../contract/problem.ts'
import { MAX_KEY_BYTES } from '../../items/item-scanner.ts'
import type { CollectionSettings } from '../../store/store.ts'
import { type Limits, MAX_KEY_FIELD_LENGTH, MAX_WAIT_SECONDS } from '../limits.ts'
import { replaceHint } from '../problem-reply.ts'
import type { RateLimits } from '../rate-limit.ts'

/** What is described. */
export interface Instance {
  readonly baseUrl: string
  readonly requiresToken: boolean
  readonly createsOnWrite: boolean
  /** Whether a browser that navigates gets HTML (D12). */
  readonly hasExplorer: boolean
  readonly limits: Limits
  readonly rateLimits: RateLimits
  /** The collections that the caller may read, and that have paths of their own. */
  readonly collections: readonly Collection[]
  /** How many more there are. */
  readonly others: number
}

/** What is described of a collection. Writing items does not change it. */
export interface Collection extends CollectionSettings {
  readonly name: string
}

/** A part of the document. JSON leaves out what is undefined. */
export type Part = Readonly<Record<string, unknown>>

export function reference(kind: string, name: string): Part {
  return { $ref: `#/components/${kind}/${name}` }
}

export function schema(name: string): Part {
  return reference('schemas', name)
}

/** An object that has all of these fields. More can be added within a version (D21). */
function object(properties: Part): Part {
  return { type: 'object', required: Object.keys(properties), properties }
}

function count(description: string): Part {
  return { type: 'integer', minimum: 0, description }
}

export const TEXT = { type: 'string' } as const
const URL_TEXT = { type: 'string', format: 'uri' } as const
const NAME = { type: 'string', pattern: NAME_PATTERN } as const
const LINK = schema('Link')
const ITEM = schema('Item')
const ITEM_COUNT = count('The exact number of items in the whole collection.')
const VERSION = count('Goes up with every write to the collection.')
const STATUS = { type: 'integer', minimum: 400, maximum: 599 }
const SETTINGS = {
  key: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: MAX_KEY_FIELD_LENGTH,
    description:
      'The field that identifies an item, or several, separated by commas; a comma or a backslash in the name of a field has a backslash before it. Null for none.',
  },
  paginated: { type: 'boolean', description: 'Whether it answers in pages, or whole.' },
  private: { type: 'boolean', description: 'Whether reading it needs a token.' },
}
const KEY_PART = {
  type: ['string', 'integer'],
  maxLength: MAX_KEY_BYTES,
  description: 'A part of the key of the item.',
}
const KEY = { ...KEY_PART, minLength: 1, description: 'The key of the item.' }

export function schemas({ baseUrl, limits, collections }: Instance): Part {
  const changed_at = {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When it was last written to; null if not known.',
  }
  const mirrors = {
    type: ['string', 'null'],
    format: 'uri',
    description: 'The URL of the collection that this one is a mirror of; null if it is none.',
  }
  const { key, ...kind } = SETTINGS
  const listed = object({
    name: NAME,
    item_count: ITEM_COUNT,
    ...kind,
    key,
    changed_at,
    mirrors,
    _links: object({ self: LINK }),
  })
  const listedLinks = { type: 'array', items: object({ href: URL_TEXT, name: NAME }) }
  // All of them: some belong to no operation, because they are about other paths and methods.
  const problemType = { ...URL_TEXT, enum: Object.keys(PROBLEMS).map((name) => problemUrl(baseUrl, name)) }
  return {
    Link: { ...object({ href: URL_TEXT }), additionalProperties: false },
    PageLinks: linksSchema('Where the collection keeps its history, `snapshot` leads to the state that it is in.', {
      snapshot: LINK,
    }),
    SnapshotLinks: linksSchema('`changes` leads to all that has changed since, `latest-version` to the collection.', {
      changes: LINK,
      'latest-version': LINK,
    }),
    ChangesLinks: linksSchema('On the last page `snapshot` leads to the state that the changes lead to.', {
      'latest-version': LINK,
      snapshot: LINK,
    }),
    Item: {
      type: 'object',
      description:
        'A JSON object, as it was written. A number can have more digits than a parser keeps; read such numbers as text.',
      additionalProperties: true,
    },
    Page: pageSchema(undefined, true),
    Whole: pageSchema(undefined, false),
    Snapshot: {
      ...pageSchema(undefined, true, { links: 'SnapshotLinks' }),
      description: `A page of a snapshot: all but the last hold ${PAGE_SIZE} items.`,
    },
    Change: {
      type: 'object',
      description:
        'A put appends or replaces an item, a delete removes one, and a reset empties the collection: the puts of all items follow. `key` is absent where the collection has no key.',
      required: ['op', 'version'],
      properties: {
        op: { type: 'string', enum: ['put', 'delete', 'reset'] },
        key: { ...TEXT, description: 'The key of the item, as its URL has it.' },
        version: VERSION,
        item: ITEM,
      },
    },
    Changes: {
      ...pageSchema(undefined, true, { links: 'ChangesLinks', item: schema('Change') }),
      description: `A page of changes: all but the last hold ${PAGE_SIZE}.`,
    },
    Items: {
      description: 'One item, or an array of them.',
      oneOf: [ITEM, { type: 'array', items: ITEM, maxItems: limits.requestItems }],
    },
    ItemLines: { type: 'string', description: 'NDJSON: one item a line.' },
    Entry: {
      type: 'object',
      required: ['_links', '_embedded'],
      properties: {
        _links: object({ self: LINK, 'service-desc': LINK, collections: listedLinks }),
        _embedded: object({ collections: { type: 'array', items: listed } }),
        incomplete: { type: 'boolean', description: 'There when a part of the store is away: there may be more.' },
      },
    },
    Settings: {
      type: 'object',
      properties: {
        key: { ...SETTINGS.key, default: null },
        paginated: { ...SETTINGS.paginated, default: true },
        private: { ...SETTINGS.private, default: false },
      },
      additionalProperties: false,
    },
    Collection: object({ name: NAME, ...SETTINGS, item_count: ITEM_COUNT, version: VERSION }),
    Appended: object({ appended: count('How many items the request had.'), item_count: ITEM_COUNT, version: VERSION }),
    ChangeLines: {
      type: 'string',
      description:
        'NDJSON: a change on each line, `{"op":"put","item":{…}}` or `{"op":"delete","key":"…"}`. A put may have the `key` of its item, which must agree; other members are ignored.',
    },
    Patched: object({
      appended: count('How many puts appended an item.'),
      replaced: count('How many took the place of one.'),
      deleted: count('How many items were deleted.'),
      item_count: ITEM_COUNT,
      version: VERSION,
    }),
    Written: object({ item_count: ITEM_COUNT, version: VERSION }),
    Health: object({
      status: {
        type: 'string',
        enum: ['ok', 'degraded'],
        description: 'Degraded: a part of the store is away, and the rest is served.',
      },
    }),
    Description: {
      ...object({ openapi: TEXT, info: { type: 'object' }, paths: { type: 'object' } }),
      description: 'This document.',
    },
    Problem: {
      ...object({ type: problemType, title: TEXT, status: STATUS, detail: TEXT, hint: TEXT, request_id: TEXT }),
      description:
        'RFC 9457. `type` leads to a description, `detail` names the value at fault, `hint` says what to do, `request_id` is for the operator. A path that is not described here is `path-not-found`, a method `method-not-allowed`.',
      examples: [problemExample(baseUrl, 'method-not-allowed')],
    },
    ProblemKind: object({ type: URL_TEXT, status: STATUS, title: TEXT, description: TEXT, hint: TEXT }),
    ...Object.assign(
      {},
      ...collections.map(({ name, keyField, isPaginated }) => ({
        [`${name}.item`]: keyField === null ? ITEM : { allOf: [ITEM, keySchema(keyField)] },
        [`${name}.page`]: pageSchema(name, isPaginated),
      })),
    ),
  }
}

function keySchema(keyField: string): Part {
  const names = keyFieldNames(keyField)
  return object(Object.fromEntries(names.map((name) => [name, names.length === 1 ? KEY : KEY_PART])))
}

/** Page links, and further ones: only `snapshot` is not on every page. */
function linksSchema(description: string, further: Part): Part {
  return {
    type: 'object',
    description: `Only the first page has no \`prev\`, and only the last no \`next\`. \`first\` carries no \`page\`, all others of these do. ${description}`,
    required: ['self', 'first', 'last', ...Object.keys(further).filter((relation) => relation !== 'snapshot')],
    properties: { self: LINK, first: LINK, prev: LINK, next: LINK, last: LINK, ...further },
  }
}

function itemSchema(name: string | undefined): Part {
  return name === undefined ? ITEM : schema(`${name}.item`)
}

/** Without a name, for any collection: then the one array under `_embedded` can have any name. */
function pageSchema(
  name: string | undefined,
  isPaginated: boolean,
  { item = itemSchema(name), links = 'PageLinks' } = {},
): Part {
  const items = { type: 'array', items: item, maxItems: isPaginated ? PAGE_SIZE : UNPAGINATED_LIMIT }
  const anyName = { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: items }
  const _embedded = name === undefined ? anyName : object({ [name]: items })
  if (!isPaginated)
    return {
      ...object({ _links: object({ self: LINK }), _embedded }),
      description: 'All of an unpaginated collection.',
      not: { required: ['item_count'], properties: { item_count: {} } },
    }
  const item_count = count('The exact number of items in the whole collection, not only on this page.')
  return {
    ...object({ item_count, _links: schema(links), _embedded }),
    description: `A page: all but the last hold ${PAGE_SIZE} items.`,
  }
}

/** Parameters in the path, the query and the headers. `Authorization` is described as security, `Accept` by the content types. */
export const PARAMETERS = {
  page: {
    name: 'page',
    in: 'query',
    description:
      'The number of the page. One beyond the last page is answered with the last page. An empty value means page 1; a number can have any length.',
    schema: { type: 'integer', minimum: 1, default: 1 },
    example: 2,
  },
  missing: {
    name: 'missing',
    in: 'query',
    description: '`skip`: deletes of keys that are not there are passed over, instead of refusing all.',
    schema: { type: 'string', enum: ['skip'] },
    example: 'skip',
  },
  collection: inPath('collection', 'The name of a collection.', 'events', { pattern: NAME_PATTERN }),
  tag: inPath('tag', 'The tag of a state, from a link: it cannot be made up.', '1000000-4-e0-qL8uV0cTz3I', {
    pattern: '^[0-9a-zA-Z_-]+$',
  }),
  key: inPath(
    'key',
    'The key of an item, percent-encoded. Of several fields, their values joined by commas; a comma or a backslash in a value has a backslash before it.',
    '7',
    { minLength: 1 },
  ),
  problem: inPath('problem', 'The name of a problem.', 'invalid-page', { enum: Object.keys(PROBLEMS) }),
  known: inHeader('If-None-Match', 'Entity tags that the client has, or `*`: 304 if one is the current one.', '"x"'),
  prefer: inHeader(
    'Prefer',
    `\`wait=N\`, with If-None-Match: where it would give 304, the answer comes when the collection has changed, or after N seconds, ${MAX_WAIT_SECONDS} at most.`,
    'wait=30',
  ),
  encoding: inHeader('Accept-Encoding', 'A page is sent as gzip to a client that takes it.', 'gzip'),
  match: inHeader('If-Match', 'Entity tags of the item, or `*`: 412 unless it has one of them.', '*'),
  noneMatch: inHeader('If-None-Match', 'Entity tags, or `*` for any: 412 if the item has one of them.', '*'),
  isNew: inHeader('If-None-Match', '`*`: 412 if there is a collection of that name already.', '*', { enum: ['*'] }),
  isSeen: {
    required: true,
    ...inHeader(
      'If-Match',
      'The ETag of a page of the collection as it is now, or `*`: 428 without, 412 for another.',
      '*',
    ),
  },
  idempotencyKey: inHeader(
    'Idempotency-Key',
    'A name for this request, a UUID for instance. Sent again with it, within 24 hours and while the collection is not dropped, it is answered as the first time, and writes nothing.',
    'a7c1f0de-5a0e-4f52-9c3b-0d6a2f1c4b11',
    { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  ),
  packed: inHeader('Content-Encoding', 'How the body is packed.', 'gzip', { enum: ['gzip', 'x-gzip', 'identity'] }),
} as const satisfies Readonly<Record<string, Part>>

export type ParameterName = keyof typeof PARAMETERS

function inPath(name: string, description: string, example: string, rules: Part): Part {
  return { name, in: 'path', required: true, description, schema: { ...TEXT, ...rules }, example }
}

function inHeader(name: string, description: string, example: string, rules: Part = {}): Part {
  return { name, in: 'header', description, schema: { ...TEXT, ...rules }, example }
}

const EXAMPLE_ID = '0ad3cf5e-9d2f-4d3c-8c55-0c7d2a8f3b61'

/** The headers of responses. */
export const HEADERS = {
  ETag: required('The tag of what is answered: a strong one, to be treated as opaque.', '"x"'),
  'Cache-Control': required(
    'Whether a cache may keep it: it asks every time, or for so many seconds not at all.',
    'no-cache',
    {
      pattern: '^(no-store|(private, )?(no-cache|max-age=[0-9]+, immutable))$',
    },
  ),
  Vary: required('What else the answer depends on.', 'Accept, Accept-Encoding'),
  'X-Content-Type-Options': required('The type is what the Content-Type says.', 'nosniff', { const: 'nosniff' }),
  'X-Request-Id': required('The id of the request: the one that it came with, or a new one.', EXAMPLE_ID),
  Allow: required('The methods of this path.', 'GET, HEAD, OPTIONS'),
  'WWW-Authenticate': required('How to send a token.', 'Bearer', { const: 'Bearer' }),
  'Content-Encoding': optional('Present if the response is compressed.', 'gzip', { const: 'gzip' }),
  'Idempotent-Replayed': optional(
    '`true` if it was done before this request came: this is the earlier answer, and nothing was written.',
    'true',
  ),
  Location: optional('The URL of what was created, if it has one.', 'https://example.com/events/7', { format: 'uri' }),
  'Preference-Applied': optional('`wait=N`, if the request waited.', 'wait=30', { pattern: '^wait=[0-9]+$' }),
  'Retry-After': optional('Seconds, if trying again can help.', 1, { type: 'integer', minimum: 0 }),
  'Accept-Encoding': optional('The accepted encodings of a body, if that is the error.', 'gzip'),
} as const satisfies Readonly<Record<string, Part>>

/** The headers of whatever was counted against a limit. A request too broken to be counted has none. */
export const RATE_HEADERS = {
  'RateLimit-Policy': optional('The limit: `q` requests in `w` seconds.', '"reads";q=100;w=1'),
  RateLimit: optional('What is left of it: `r` requests, until it starts again in `t` seconds.', '"reads";r=99;t=1'),
}

export function isLimited({ reads, writes }: RateLimits): boolean {
  return reads !== undefined || writes !== undefined
}

/** The headers that make a page in HTML safe, also with 304. */
export const HTML_HEADERS = {
  'Content-Security-Policy': optional('Of HTML: it loads nothing from elsewhere.', "default-src 'none'"),
  'Referrer-Policy': optional('Of HTML: other sites do not learn where a link was.', 'no-referrer', {
    const: 'no-referrer',
  }),
}

export type HeaderName = keyof typeof HEADERS

/** Of a response that a client may keep. */
export const CACHE_HEADERS: readonly HeaderName[] = ['ETag', 'Cache-Control', 'Vary']
export const PAGE_HEADERS: readonly HeaderName[] = [...CACHE_HEADERS, 'Content-Encoding']

function required(description: string, example: string | number, rules: Part = {}): Part {
  return { description, required: true, schema: { ...TEXT, ...rules }, example }
}

function optional(description: string, example: string | number, rules: Part = {}): Part {
  return { ...required(description, example, rules), required: false }
}

/**
 * An example of each problem, with the service's real words, by the operations that can have it. A test compares them with
 * real responses.
 */

/** Any request. */
const COMMON = {
  'malformed-request': 'The request has no Host header.',
  unauthorized: 'The token is not valid.',
  'request-timeout': 'The head of the request was not complete in time.',
  'misdirected-request': 'The request is for the host "data.example".',
  'header-too-large': 'The request line and headers are larger than 16384 bytes.',
  'internal-error': 'The request could not be answered.',
  'store-unavailable': 'The store did not answer.',
  'http-version-not-supported': 'The request is an HTTP/2.0 request.',
}

/** Any write. */
const WRITE = {
  'invalid-name': '"Events" is not 1 to 64 of a-z 0-9 _ - . and the first one a letter or a digit.',
  'invalid-idempotency-key': 'The Idempotency-Key is not 1 to 255 visible ASCII characters.',
  forbidden: 'The token has no scope "write:events".',
  'read-only': 'The service may only read its store.',
  'collection-not-found': 'There is no collection "nope".',
  'outcome-unknown': 'The store gave no definite answer while it committed the write.',
  'collection-mirrored': 'The collection "events" is a mirror of https://data.example/events.',
  'collection-busy': 'An import or a copy of this collection is running.',
  'store-full': 'There is no room for this write.',
}

/** Any write with a body; only such a write can be repeated with another body. */
const BODY = {
  'invalid-body': 'The body is empty.',
  'content-too-large': 'The body has 20,001 bytes; the limit is 20,000 (--body-bytes).',
  'unsupported-media-type': 'The Content-Type is "text/plain".',
  'idempotency-conflict': 'This key was already used for a different request.',
  'service-busy': 'Other requests with this token hold 30,000 of the 40,000 bytes of memory for bodies.',
}

const DETAILS: Readonly<Record<ProblemName, string>> = {
  ...COMMON,
  ...WRITE,
  ...BODY,
  'rate-limited': 'The limit is 100 reads per second from one token.',
  'invalid-page': 'The parameter "page" is "0", which is not a page number.',
  'state-not-found': 'The collection "events" never was in the state "nope".',
  'state-expired': 'The state "a1b2-2-3-AbCdEfGh_-9" of the collection "events" is no longer kept.',
  'item-not-found': 'The collection "events" has no item with the key "nope".',
  'path-not-found': 'There is nothing at "/-/problems/nope".',
  'method-not-allowed': '"PATCH" is not available at "/events/7".',
  'invalid-item': 'The body: the key field "id" is missing.',
  'key-mismatch': 'The path has the key "7", the item "8".',
  conflict: 'There is already an item with the key "7".',
  'precondition-failed': 'There is already a collection "events".',
  'precondition-required': 'Dropping a collection needs If-Match.',
}

export const COMMON_PROBLEMS = Object.keys(COMMON).filter(isProblemName)
export const WRITE_PROBLEMS = Object.keys(WRITE).filter(isProblemName)
export const BODY_PROBLEMS = Object.keys(BODY).filter(isProblemName)

function problemExample(baseUrl: string, name: ProblemName): Problem {
  const hint = name === 'conflict' ? replaceHint(itemUrl(baseUrl, 'events', '7')) : undefined
  return { ...problem(baseUrl, name, DETAILS[name], hint), request_id: EXAMPLE_ID }
}

/** By name: all that an operation has. */
export function problemExamples({ baseUrl, rateLimits }: Instance): Readonly<Record<string, unknown>> {
  const others = ['method-not-allowed', ...(isLimited(rateLimits) ? [] : ['rate-limited'])]
  const names = Object.keys(PROBLEMS)
    .filter(isProblemName)
    .filter((name) => !others.includes(name))
  const examples = names.map((name) => {
    const { title, hint } = PROBLEMS[name]
    return [name, { summary: title, description: hint, value: problemExample(baseUrl, name) }]
  })
  return Object.fromEntries(examples)
}
