/** `/-/openapi.json` from top to bottom: all that this service offers to one caller, as an OpenAPI 3.1 document. */

import { LRUCache } from 'lru-cache'
import { collectionUrl, descriptionUrl, entryUrl, pageLinks, problemUrl } from '../../contract/link.ts'
import { formatCount } from '../../contract/message-text.ts'
import { PAGE_SIZE, UNPAGINATED_LIMIT } from '../../contract/page.ts'
import { PROBLEMS, type ProblemName } from '../../contract/problem.ts'
import { TOKEN_PREFIX } from '../../contract/scope.ts'
import type { HandlerContext } from '../handler-context.ts'
import { limitText, type RateLimits } from '../rate-limit.ts'
import { entryCaching, readableHeads } from '../read/get-entry.ts'
import { foundByContent, type Reply } from '../reply.ts'
import {
  BODY_PROBLEMS,
  CACHE_HEADERS,
  COMMON_PROBLEMS,
  type Collection,
  HEADERS,
  type HeaderName,
  HTML_HEADERS,
  type Instance,
  isLimited,
  PAGE_HEADERS,
  PARAMETERS,
  type ParameterName,
  type Part,
  problemExamples,
  RATE_HEADERS,
  reference,
  schema,
  schemas,
  TEXT,
  WRITE_PROBLEMS,
} from './components.ts'

/** So many collections have paths of their own, so that the document does not become too large for tools. */
export const MAX_DESCRIBED_COLLECTIONS = 50

/** The version of the API, not of the program: goes up when something is removed or changes its meaning (D21). */
const VERSION = '1.0.0'

/** Names of collections have no capital letters, so none can be the same as these. */
const SERVICE_TAG = 'Service'
const ANY_TAG = 'Any collection'

/** The collection in the examples of paths that are for any collection. */
const EXAMPLE: Collection = { name: 'events', keyField: 'id', isPaginated: true, isPrivate: false }
const EXAMPLE_SETTINGS = { key: 'id', paginated: true, private: false }

export function describeService(instance: Instance): Part {
  const { baseUrl, hasExplorer, limits, rateLimits, collections, others } = instance
  const { bodyBytes, itemBytes, requestItems } = limits
  const about = [
    `Collections, ${PAGE_SIZE} items a page, with an exact count. Query parameters that are not described are ignored.`,
    `A request has at most ${formatCount(bodyBytes)} bytes, both compressed and decompressed, and ${formatCount(requestItems)} items of at most ${formatCount(itemBytes)} bytes.`,
  ]
  if (isLimited(rateLimits))
    about.push(`One token, or one address without a token, may send ${limitsText(rateLimits)}.`)
  if (others > 0)
    about.push(
      `The first ${collections.length} collections have paths of their own here; for the other ${formatCount(others)} the paths with {collection} stand.`,
    )
  const responses = sharedResponses(hasExplorer)
  const paths = Object.assign(
    servicePaths(instance, responses),
    ...[...collections, undefined].map((collection) => collectionPaths(instance, responses, collection)),
  )
  return {
    openapi: '3.1.0',
    info: { title: 'Reams', version: VERSION, description: about.join('\n\n') },
    servers: [{ url: baseUrl }],
    tags: [
      {
        name: SERVICE_TAG,
        description: 'The entry point, the health of the service, its description and its problems.',
      },
      ...collections.map(({ name, isPaginated, isPrivate }) => ({
        name,
        description: `A ${isPrivate ? 'private ' : ''}collection ${isPaginated ? 'in pages' : 'that answers whole'}.`,
      })),
      { name: ANY_TAG, description: 'Whichever collection the path names, also one that is yet to be made.' },
    ],
    // A test compares them with the routes.
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: `${TOKEN_PREFIX}…`,
          description:
            'A token of this service. What an operation asks for is a scope: `read:`, `write:` (includes reading) or `create:` (includes writing), with the name of a collection or `*`; `admin` is everything.',
        },
      },
      schemas: schemas(instance),
      parameters: PARAMETERS,
      headers: { ...HEADERS, ...(hasExplorer && HTML_HEADERS), ...(isLimited(rateLimits) && RATE_HEADERS) },
      examples: problemExamples(instance),
      // The paths have added the responses that they refer to.
      responses: isLimited(rateLimits) ? mapValues(responses, withRateHeaders) : responses,
    },
  }
}

/** `100 reads per second and 20 writes per second`. */
function limitsText({ reads, writes }: RateLimits): string {
  return [reads && limitText('reads', reads), writes && limitText('writes', writes)].filter(Boolean).join(' and ')
}

/** The paths of the service itself. */
function servicePaths(instance: Instance, responses: Responses): Part {
  const { baseUrl, requiresToken, hasExplorer } = instance
  const self = { href: collectionUrl(baseUrl, 'events') }
  const links = { self: { href: entryUrl(baseUrl) }, 'service-desc': { href: descriptionUrl(baseUrl) } }
  const changed_at = '2026-11-15T09:30:00.000Z'
  const events = { name: 'events', item_count: 502, ...EXAMPLE_SETTINGS, changed_at, _links: { self } }
  const entry = {
    _links: { ...links, collections: [{ ...self, name: 'events' }] },
    _embedded: { collections: [events] },
  }
  const short = { openapi: '3.1.0', info: { title: 'Reams' }, paths: {} }
  const problem = { type: problemUrl(baseUrl, 'invalid-page'), ...PROBLEMS['invalid-page'] }
  const paths = {
    '/': {
      operationId: 'readEntry',
      summary: 'The entry point: every collection, linked and counted',
      description: 'Private collections are listed to a token that may read them.',
      parameters: ['known'],
      hasHtml: hasExplorer,
      responses: { '200': answer('The entry point.', CACHE_HEADERS, hal(schema('Entry'), { entry }), hasExplorer) },
    },
    '/-/openapi.json': {
      operationId: 'readDescription',
      summary: 'This description',
      description: 'Private collections are described to a token that may read them.',
      parameters: ['known'],
      responses: { '200': answer('OpenAPI 3.1.', CACHE_HEADERS, json(schema('Description'), { short })) },
    },
  } as const
  const openPaths = {
    '/-/health': {
      operationId: 'readHealth',
      summary: 'Whether the store can be read now',
      isUnlimited: true,
      responses: { '200': answer('It can.', ['Cache-Control'], json(schema('Health'), { ok: { status: 'ok' } })) },
    },
    '/-/problems/{problem}': {
      operationId: 'readProblem',
      summary: 'What a problem means',
      parameters: ['problem', 'known'],
      responses: {
        '200': answer('The problem.', CACHE_HEADERS, json(schema('ProblemKind'), { 'invalid-page': problem })),
      },
      problems: ['path-not-found'],
    },
  } as const
  const describe = describer(instance, responses, SERVICE_TAG, tokenIf(requiresToken))
  // What shows no data is open even where tokens are required.
  const describeOpen = describer(instance, responses, SERVICE_TAG, tokenIf(false))
  return {
    ...mapValues(paths, (get, path) => describe({ get }, path)),
    ...mapValues(openPaths, (get, path) => describeOpen({ get }, path)),
  }
}

/** The paths of one collection; or, with undefined, of any collection, even one that does not exist yet. */
function collectionPaths(instance: Instance, responses: Responses, collection: Collection | undefined): Part {
  const { baseUrl, requiresToken, hasExplorer } = instance
  const { name, keyField, isPaginated, isPrivate } = collection ?? EXAMPLE
  const isKnown = collection !== undefined
  const nameInPath = isKnown ? name : '{collection}'
  const nameInText = isKnown ? `\`${name}\`` : 'a collection'
  // Unique: two collections differ before the last dot, and no id of the service ends in a dot and such a word.
  const id = (own: string) => (isKnown ? `${name}.${own}` : own)
  // A scope is named only where it is always needed: not to read what may be public.
  const toRead = isPrivate ? [{ token: [`read:${name}`] }] : tokenIf(requiresToken)
  const toWrite = [{ token: [`write:${nameInPath}`] }]
  // The name of an existing collection is valid.
  const writeProblems = WRITE_PROBLEMS.filter((problem) => !isKnown || problem !== 'invalid-name')
  const bodyProblems = [...writeProblems, ...BODY_PROBLEMS]

  const itemSchema = schema(isKnown ? `${name}.item` : 'Item')
  const itemsSchema = isKnown ? { oneOf: [itemSchema, { type: 'array', items: itemSchema }] } : schema('Items')
  const pageSchema = isKnown ? schema(`${name}.page`) : { oneOf: [schema('Page'), schema('Whole')] }
  // Of the items of an existing collection, only the key field is known.
  const title = isKnown ? {} : { title: 'Dance: Gardens' }
  const item = (key: number) => ({ ...(keyField !== null && { [keyField]: key }), ...title })
  // As many items as put two on the second page, which is small enough to be shown whole.
  const _embedded = { [name]: [item(501), item(502)] }
  const last = { item_count: 502, _links: pageLinks(baseUrl, name, 2, 502), _embedded }
  const empty = { item_count: 0, _links: pageLinks(baseUrl, name, 1, 0), _embedded: { [name]: [] } }
  const whole = { _links: { self: { href: collectionUrl(baseUrl, name) } }, _embedded }

  const pageContent = hal(pageSchema, isPaginated ? { last, empty } : { whole })
  const itemContent = json(itemSchema, { item: item(7) })
  const itemsContent = json(itemsSchema, { one: item(503), several: [item(503), item(504)] })
  const settings = { key: keyField, paginated: isPaginated, private: isPrivate }
  const lines = { schema: schema('ItemLines') }
  // NDJSON has three names.
  const ndjson = { 'application/x-ndjson': lines, 'application/ndjson': lines, 'application/jsonl': lines }
  const changeLines = { schema: schema('ChangeLines') }
  const changes = {
    'application/x-ndjson': changeLines,
    'application/ndjson': changeLines,
    'application/jsonl': changeLines,
  }
  const pageAnswer = (hasHtml: boolean) => answer('A page, or all of it.', PAGE_HEADERS, pageContent, hasHtml)
  const itemAnswer = (hasHtml: boolean) => answer('The item.', CACHE_HEADERS, itemContent, hasHtml)
  responses[id('page')] = pageAnswer(hasExplorer)
  if (keyField !== null) responses[id('item')] = itemAnswer(hasExplorer)

  const readCollection: Operation = {
    operationId: id('readCollection'),
    summary: `Read ${nameInText}`,
    description: 'Follow `next` until a page has none. An unpaginated collection answers whole, without `item_count`.',
    security: toRead,
    parameters: isPaginated ? ['page', 'known', 'encoding'] : ['known', 'encoding'],
    hasHtml: hasExplorer,
    responses: { '200': response(id('page')) },
    problems: isPaginated ? ['invalid-page', 'collection-not-found'] : ['collection-not-found'],
  }
  const readItem: Operation = {
    operationId: id('readItem'),
    summary: `Read one item of ${nameInText}`,
    description: 'As it was written.',
    security: toRead,
    parameters: ['known'],
    hasHtml: hasExplorer,
    responses: { '200': response(id('item')) },
    problems: ['collection-not-found', 'item-not-found'],
  }
  const asData = (read: Operation, found: Part): Operation => ({
    ...read,
    operationId: `${read.operationId}AsData`,
    summary: `${read.summary}, in a browser too`,
    description: 'The same as without `/-/json`, and never HTML.',
    hasHtml: false,
    responses: { '200': found },
  })
  const paths: Readonly<Record<string, Operations>> = {
    [`/${nameInPath}`]: {
      get: readCollection,
      post: {
        operationId: id('appendItems'),
        summary: `Append items to ${nameInText}`,
        description: `All of them or none; on disk when it is answered. A token that may \`create:\` the collection makes one with pages and without a key where there is none. An unpaginated collection holds at most ${formatCount(UNPAGINATED_LIMIT)} items.`,
        security: toWrite,
        parameters: ['idempotencyKey', 'packed'],
        requestBody: { required: true, content: { ...itemsContent, ...ndjson } },
        responses: { '201': response('appended') },
        problems: [...bodyProblems, 'invalid-item', 'conflict'],
      },
      patch: {
        operationId: id('changeItems'),
        summary: `Change many items of ${nameInText}`,
        description:
          'In the order of the lines, as if one after another, but all of them or none, as one version. A put replaces the item with its key, which keeps its place, or appends it; without a key field every put appends.',
        security: toWrite,
        parameters: ['missing', 'idempotencyKey', 'packed'],
        requestBody: { required: true, content: changes },
        responses: { '200': response('patched') },
        problems: [...bodyProblems, 'invalid-item', 'key-mismatch', 'conflict'],
      },
      put: {
        operationId: id('createCollection'),
        summary: `Create ${nameInText}`,
        description:
          'To make one takes a token that may `create:` it. Where there is one with these settings, it is answered.',
        // Whoever may write to an existing collection may also ask for its creation.
        security: isKnown ? toWrite : [{ token: ['create:{collection}'] }],
        parameters: ['isNew', 'idempotencyKey', 'packed'],
        requestBody: { required: true, content: json(schema('Settings'), { settings }) },
        responses: { '200': response('collection-there'), '201': response('collection-created') },
        problems: [...bodyProblems, 'conflict', 'precondition-failed'],
      },
      delete: {
        operationId: id('dropCollection'),
        summary: `Drop ${nameInText} with all its items`,
        security: toWrite,
        parameters: ['isSeen', 'idempotencyKey'],
        responses: { '204': response('done') },
        problems: [...writeProblems, 'precondition-failed', 'precondition-required'],
      },
    },
    // Without a key field its items have no path.
    ...(keyField !== null && {
      [`/${nameInPath}/{key}`]: {
        get: readItem,
        put: {
          operationId: id('putItem'),
          summary: `Create or replace one item of ${nameInText}`,
          description: 'One that is replaced keeps its place. The key in the path is that of the item.',
          security: toWrite,
          parameters: ['match', 'noneMatch', 'idempotencyKey', 'packed'],
          requestBody: { required: true, content: { ...itemContent, ...ndjson } },
          responses: { '200': response('item-replaced'), '201': response('item-created') },
          problems: [...bodyProblems, 'invalid-item', 'key-mismatch', 'conflict', 'precondition-failed'],
        },
        delete: {
          operationId: id('deleteItem'),
          summary: `Remove one item of ${nameInText}`,
          description: 'Those after it move up.',
          security: toWrite,
          parameters: ['match', 'noneMatch', 'idempotencyKey'],
          responses: { '204': response('done') },
          problems: [...writeProblems, 'item-not-found', 'conflict', 'precondition-failed'],
        },
      },
    }),
    ...(!isKnown && {
      '/-/json/{collection}': { get: asData(readCollection, pageAnswer(false)) },
      '/-/json/{collection}/{key}': { get: asData(readItem, itemAnswer(false)) },
    }),
  }
  return mapValues(paths, describer(instance, responses, isKnown ? name : ANY_TAG, tokenIf(requiresToken)))
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Part[]
  readonly parameters?: readonly ParameterName[]
  readonly requestBody?: Part
  /** Whether a browser that navigates gets HTML, for problems too. Default false. */
  readonly hasHtml?: boolean
  /** Without the problems. */
  readonly responses: Readonly<Record<string, Part>>
  /** Whether no limit counts it. Default false. */
  readonly isUnlimited?: boolean
  /** In addition to those that every operation has. */
  readonly problems?: readonly ProblemName[]
}

type Operations = Readonly<Record<string, Operation> & Record<'get', Operation>>

/**
 * Describes the paths of one group; `security` is for operations without their own. Adds the responses with problems, to which
 * operations refer, to `responses`.
 */
function describer({ baseUrl, rateLimits }: Instance, responses: Responses, tag: string, security: readonly Part[]) {
  const describeOperation = (whole: Operation, method: string): Part => {
    const { hasHtml = false, problems = [], isUnlimited = false, ...operation } = whole
    const { description, parameters } = operation
    const limit = isUnlimited ? undefined : rateLimits[WRITES.includes(method) ? 'writes' : 'reads']
    const own = limit === undefined ? problems : [...problems, 'rate-limited' as const]
    const notModified = { '304': response(hasHtml ? 'page-not-modified' : 'not-modified') }
    const byStatus = Object.groupBy([...COMMON_PROBLEMS, ...own], (name) => PROBLEMS[name].status)
    return {
      tags: [tag],
      security,
      ...operation,
      description: hasHtml ? `${description} To a browser the answer is a page in HTML.` : description,
      parameters: parameters?.map((name) => reference('parameters', name)),
      responses: {
        ...(limit === undefined ? operation.responses : mapValues(operation.responses, withRateHeaders)),
        // For a client that says what it has.
        ...(parameters?.includes('known') && notModified),
        ...mapValues(byStatus, (names = [], status) => {
          // Operations with the same problems share a response.
          const name = [...names, ...(hasHtml ? ['html'] : [])].join('.')
          responses[name] ??= problemAnswer(baseUrl, status, names, hasHtml)
          return response(name)
        }),
      },
    }
  }
  /** HEAD is GET without the body, and every path has OPTIONS (D13). */
  return (operations: Operations, path: string): Part => {
    const { get } = operations
    // The capital letter, because a collection can be called `read` too.
    const idFor = (method: string) => get.operationId.replace(/read(?=[A-Z])/, method)
    const head = { ...get, operationId: idFor('head'), summary: `${get.summary}, without the body` }
    const allowed = { '204': response('allowed') }
    const options = {
      operationId: idFor('options'),
      summary: 'The methods of this path',
      responses: allowed,
      isUnlimited: get.isUnlimited ?? false,
    }
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => reference('parameters', name))
    return {
      ...(parameters.length > 0 && { parameters }),
      ...mapValues<Operation>({ ...operations, head, options }, describeOperation),
    }
  }
}

function problemAnswer(baseUrl: string, status: string, names: readonly ProblemName[], hasHtml: boolean): Part {
  const descriptions = names.map((name) => `**${name}**: ${PROBLEMS[name].title}. ${PROBLEMS[name].description}`)
  const type = { type: 'string', enum: names.map((name) => problemUrl(baseUrl, name)) }
  const content = {
    'application/problem+json': {
      schema: { allOf: [schema('Problem'), { type: 'object', properties: { type } }] },
      examples: Object.fromEntries(names.map((name) => [name, reference('examples', name)])),
    },
  }
  const own = PROBLEM_HEADERS[status] ?? []
  const found = answer(descriptions.join('\n\n'), ['Cache-Control', ...own], content, hasHtml)
  // HTML has Vary; a problem in JSON does not.
  const vary = hasHtml && { Vary: { ...HEADERS.Vary, required: false } }
  return { ...found, headers: { ...found.headers, ...vary } }
}

/** The headers of problems with a certain status, in addition to those of all problems. */
const PROBLEM_HEADERS: Readonly<Record<string, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  415: ['Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const WRITES = ['post', 'put', 'patch', 'delete']

/** A reference stays as it is. */
function withRateHeaders(response: Part): Part {
  if ('$ref' in response) return response
  const own = mapValues(RATE_HEADERS, (_header, name) => reference('headers', name))
  return { ...response, headers: { ...(response['headers'] as Part | undefined), ...own } }
}

type Responses = Record<string, Part>

/** The responses without problems that are the same for every collection. */
function sharedResponses(hasExplorer: boolean): Responses {
  const appended = { appended: 2, item_count: 504, version: 3 }
  const patched = { appended: 1, replaced: 2, deleted: 1, item_count: 504, version: 4 }
  const replaced = { item_count: 502, version: 3 }
  const created = { item_count: 503, version: 3 }
  const collection = { name: 'events', ...EXAMPLE_SETTINGS, item_count: 0, version: 1 }
  const collectionContent = json(schema('Collection'), { collection })
  const withLocation = ['Cache-Control', 'Location'] as const
  const withTag = ['Cache-Control', 'ETag'] as const
  const notModified = 'The client has it as it is.'
  return {
    'not-modified': { description: notModified, headers: headers(CACHE_HEADERS) },
    ...(hasExplorer && { 'page-not-modified': { description: notModified, headers: headers(CACHE_HEADERS, true) } }),
    allowed: { description: 'The methods of this path.', headers: headers(['Allow']) },
    done: { description: 'It is done, and on disk.', headers: headers([]) },
    appended: answer(
      'The items are appended.',
      [...withLocation, 'Idempotent-Replayed'],
      json(schema('Appended'), { appended }),
    ),
    patched: answer(
      'The changes are made.',
      ['Cache-Control', 'Idempotent-Replayed'],
      json(schema('Patched'), { patched }),
    ),
    'collection-there': answer('It exists, with these settings.', ['Cache-Control'], collectionContent),
    'collection-created': answer('It is created.', withLocation, collectionContent),
    'item-replaced': answer('The item is replaced.', withTag, json(schema('Written'), { replaced })),
    'item-created': answer('The item is created.', withTag, json(schema('Written'), { created })),
  }
}

/** A response with a body; with `hasHtml`, a browser that navigates gets HTML instead (D12). */
function answer(description: string, names: readonly HeaderName[], content: Part, hasHtml = false) {
  const all: readonly HeaderName[] = ['X-Content-Type-Options', ...names]
  if (!hasHtml) return { description, headers: headers(all), content }
  const html = { 'text/html': { schema: TEXT } }
  return { description, headers: headers([...all, 'Content-Encoding'], true), content: { ...content, ...html } }
}

function headers(names: readonly HeaderName[], hasHtml = false): Part {
  const all = [...names, 'X-Request-Id', ...(hasHtml ? Object.keys(HTML_HEADERS) : [])]
  return Object.fromEntries(all.map((name) => [name, reference('headers', name)]))
}

/** With examples of the body by name. */
function json(body: Part, examples: Part): Part {
  return { 'application/json': { schema: body, examples: mapValues(examples, (value) => ({ value })) } }
}

/** The same bytes under two names (D12). */
function hal(body: Part, examples: Part): Part {
  const content = json(body, examples)
  return { 'application/hal+json': content['application/json'], ...content }
}

function response(name: string): Part {
  return reference('responses', name)
}

/** Any token if one is required; otherwise none is needed. */
function tokenIf(isRequired: boolean): readonly Part[] {
  return isRequired ? [{ token: [] }] : [{}, { token: [] }]
}

/** The same keys with mapped values. */
function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value, name: string) => unknown): Part {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}

export async function getOpenapi(context: HandlerContext): Promise<Reply> {
  const { request, baseUrl, requiresToken, limits, rateLimits, explorer } = context
  const { heads } = await readableHeads(context)
  const collections = heads.slice(0, MAX_DESCRIBED_COLLECTIONS).map(({ name, keyField, isPaginated, isPrivate }) => {
    return { name, keyField, isPaginated, isPrivate }
  })
  const others = heads.length - collections.length
  const hasExplorer = explorer !== undefined
  const body = textOf({ baseUrl, requiresToken, hasExplorer, limits, rateLimits, collections, others })
  return foundByContent(request, body, 'application/json', entryCaching(context))
}

/** With many collections it takes some milliseconds to write, and changes only when a collection comes or goes. */
const known = new LRUCache<string, Buffer>({ max: 10 })

function textOf(instance: Instance): Buffer {
  const key = JSON.stringify(instance)
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const text = Buffer.from(`${JSON.stringify(describeService(instance))}\n`)
  known.set(key, text)
  return text
}
