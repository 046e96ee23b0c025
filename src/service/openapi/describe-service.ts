/** `/-/openapi.json` from top to bottom: all that this service offers to one caller, as an OpenAPI 3.1 document. */

import { LRUCache } from 'lru-cache'
import { collectionUrl, descriptionUrl, entryUrl, problemUrl } from '../../contract/link.ts'
import { formatCount } from '../../contract/message-text.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import { PROBLEMS } from '../../contract/problem.ts'
import { TOKEN_PREFIX } from '../../contract/scope.ts'
import type { HandlerContext } from '../handler-context.ts'
import { limitText, type RateLimits } from '../rate-limit.ts'
import { entryCaching, readableHeads } from '../read/get-entry.ts'
import { foundByContent, type Reply } from '../reply.ts'
import { ANY_TAG, collectionPaths } from './collection-paths.ts'
import {
  CACHE_HEADERS,
  HEADERS,
  HTML_HEADERS,
  type Instance,
  isLimited,
  PARAMETERS,
  type Part,
  problemExamples,
  RATE_HEADERS,
  schema,
  schemas,
} from './components.ts'
import {
  answer,
  describer,
  EXAMPLE_SETTINGS,
  hal,
  json,
  mapValues,
  type Responses,
  sharedResponses,
  tokenIf,
  withRateHeaders,
} from './operation.ts'

/** So many collections have paths of their own, so that the document does not become too large for tools. */
export const MAX_DESCRIBED_COLLECTIONS = 50

/** The version of the API, not of the program: goes up when something is removed or changes its meaning (D21). */
const VERSION = '1.0.0'

/** Names of collections have no capital letters, so none can be the same as this. */
const SERVICE_TAG = 'Service'

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
  const events = { name: 'events', item_count: 502, ...EXAMPLE_SETTINGS, changed_at, mirrors: null, _links: { self } }
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

export async function getOpenapi(context: HandlerContext): Promise<Reply> {
  const { request, baseUrl, requiresToken, createsOnWrite, limits, rateLimits, explorer } = context
  const { heads } = await readableHeads(context)
  const collections = heads.slice(0, MAX_DESCRIBED_COLLECTIONS).map(({ name, keyField, isPaginated, isPrivate }) => {
    return { name, keyField, isPaginated, isPrivate }
  })
  const others = heads.length - collections.length
  const hasExplorer = explorer !== undefined
  const body = textOf({ baseUrl, requiresToken, createsOnWrite, hasExplorer, limits, rateLimits, collections, others })
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
