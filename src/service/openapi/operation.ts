/** What the paths of the OpenAPI document are put together from: operations, with their answers and their problems. */

import { problemUrl } from '../../contract/link.ts'
import { PROBLEMS, type ProblemName } from '../../contract/problem.ts'
import type { StateTag } from '../../contract/state-tag.ts'
import {
  CACHE_HEADERS,
  COMMON_PROBLEMS,
  HEADERS,
  type HeaderName,
  HTML_HEADERS,
  type Instance,
  type ParameterName,
  type Part,
  RATE_HEADERS,
  reference,
  schema,
  TEXT,
} from './components.ts'

/** What the examples of collections are made with. */
export const EXAMPLE_SETTINGS = { key: 'id', paginated: true, private: false }

/** The state that the collection in the examples is in. */
export const EXAMPLE_STATE: StateTag = { collectionId: 60_466_176, version: 4, changes: 504, commitId: 'qL8uV0cTz3I' }

export interface Operation {
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

/** The same read below `/-/json`. */
export function asData(read: Operation, found: Part): Operation {
  return {
    ...read,
    operationId: `${read.operationId}AsData`,
    summary: `${read.summary}, in a browser too`,
    description: 'The same as without `/-/json`, and never HTML.',
    hasHtml: false,
    responses: { '200': found },
  }
}

export type Operations = Readonly<Record<string, Operation> & Record<'get', Operation>>

/**
 * Describes the paths of one group; `security` is for operations without their own. Adds the responses with problems, to which
 * operations refer, to `responses`.
 */
export function describer(
  { baseUrl, rateLimits }: Instance,
  responses: Responses,
  tag: string,
  security: readonly Part[],
) {
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
export function withRateHeaders(response: Part): Part {
  if ('$ref' in response) return response
  const own = mapValues(RATE_HEADERS, (_header, name) => reference('headers', name))
  return { ...response, headers: { ...(response['headers'] as Part | undefined), ...own } }
}

export type Responses = Record<string, Part>

/** The responses without problems that are the same for every collection. */
export function sharedResponses(hasExplorer: boolean): Responses {
  const appended = { appended: 2, item_count: 504, version: 3 }
  const patched = { appended: 1, replaced: 2, deleted: 1, item_count: 504, version: 4 }
  const replaced = { item_count: 502, version: 3 }
  const created = { item_count: 503, version: 3 }
  const collection = { name: 'events', ...EXAMPLE_SETTINGS, item_count: 0, version: 1 }
  const collectionContent = json(schema('Collection'), { collection })
  const withLocation = ['Cache-Control', 'Location'] as const
  const withTag = ['Cache-Control', 'ETag'] as const
  const notModified = 'The client has it as it is.'
  const unchanged = [...CACHE_HEADERS, 'Preference-Applied'] as const
  return {
    'not-modified': { description: notModified, headers: headers(unchanged) },
    ...(hasExplorer && { 'page-not-modified': { description: notModified, headers: headers(unchanged, true) } }),
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
export function answer(description: string, names: readonly HeaderName[], content: Part, hasHtml = false) {
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
export function json(body: Part, examples: Part): Part {
  return { 'application/json': { schema: body, examples: mapValues(examples, (value) => ({ value })) } }
}

/** The same bytes under two names (D12). */
export function hal(body: Part, examples: Part): Part {
  const content = json(body, examples)
  return { 'application/hal+json': content['application/json'], ...content }
}

export function response(name: string): Part {
  return reference('responses', name)
}

/** Any token if one is required; otherwise none is needed. */
export function tokenIf(isRequired: boolean): readonly Part[] {
  return isRequired ? [{ token: [] }] : [{}, { token: [] }]
}

/** The same keys with mapped values. */
export function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => unknown,
): Part {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}
