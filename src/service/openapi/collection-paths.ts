/** The paths of a collection in the OpenAPI document. */

import { keyFieldNames } from '../../contract/key.ts'
import { collectionUrl, liveLinks, pageLinks } from '../../contract/link.ts'
import { formatCount } from '../../contract/message-text.ts'
import { UNPAGINATED_LIMIT } from '../../contract/page.ts'
import {
  BODY_PROBLEMS,
  CACHE_HEADERS,
  type Collection,
  type Instance,
  PAGE_HEADERS,
  type Part,
  schema,
  WRITE_PROBLEMS,
} from './components.ts'
import {
  answer,
  asData,
  describer,
  EXAMPLE_STATE,
  hal,
  json,
  mapValues,
  type Operation,
  type Operations,
  type Responses,
  response,
  tokenIf,
} from './operation.ts'
import { pastPaths } from './past-paths.ts'

/** Names of collections have no capital letters, so none can be the same as this. */
export const ANY_TAG = 'Any collection'

/** The collection in the examples of paths that are for any collection. */
const EXAMPLE: Collection = { name: 'events', keyField: 'id', isPaginated: true, isPrivate: false }

/** The paths of one collection; or, with undefined, of any collection, even one that does not exist yet. */
export function collectionPaths(instance: Instance, responses: Responses, collection: Collection | undefined): Part {
  const { baseUrl, requiresToken, createsOnWrite, hasExplorer } = instance
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
  // To create a collection that is there is no write, so a mirror does not refuse it.
  const creationProblems = bodyProblems.filter((problem) => problem !== 'collection-mirrored')

  const ifMissing = createsOnWrite
    ? 'A token that may `create:` the collection creates it where there is none, with pages and without a key.'
    : 'The collection must exist: PUT creates one.'

  const itemSchema = schema(isKnown ? `${name}.item` : 'Item')
  const itemsSchema = isKnown ? { oneOf: [itemSchema, { type: 'array', items: itemSchema }] } : schema('Items')
  const pageSchema = isKnown ? schema(`${name}.page`) : { oneOf: [schema('Page'), schema('Whole')] }
  // Of the items of an existing collection, only the key fields are known.
  const title = isKnown ? {} : { title: 'Dance: Gardens' }
  const keyNames = keyField === null ? [] : keyFieldNames(keyField)
  const item = (key: number) => ({ ...Object.fromEntries(keyNames.map((field) => [field, key])), ...title })
  // As many items as put two on the second page, which is small enough to be shown whole.
  const _embedded = { [name]: [item(501), item(502)] }
  const linksOf = (page: number, count: number) => ({
    ...pageLinks(baseUrl, name, page, count),
    ...liveLinks(baseUrl, name, EXAMPLE_STATE),
  })
  const last = { item_count: 502, _links: linksOf(2, 502), _embedded }
  const empty = { item_count: 0, _links: linksOf(1, 0), _embedded: { [name]: [] } }
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
  const pageAnswer = (hasHtml: boolean) =>
    answer('A page, or all of it.', [...PAGE_HEADERS, 'Preference-Applied'], pageContent, hasHtml)
  const itemAnswer = (hasHtml: boolean) => answer('The item.', CACHE_HEADERS, itemContent, hasHtml)
  responses[id('page')] = pageAnswer(hasExplorer)
  if (keyField !== null) responses[id('item')] = itemAnswer(hasExplorer)

  const readCollection: Operation = {
    operationId: id('readCollection'),
    summary: `Read ${nameInText}`,
    description: 'Follow `next` until a page has none. An unpaginated collection answers whole, without `item_count`.',
    security: toRead,
    parameters: isPaginated ? ['page', 'known', 'prefer', 'encoding'] : ['known', 'prefer', 'encoding'],
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
  const paths: Readonly<Record<string, Operations>> = {
    [`/${nameInPath}`]: {
      get: readCollection,
      post: {
        operationId: id('appendItems'),
        summary: `Append items to ${nameInText}`,
        description: `All of them or none; on disk when it is answered. ${ifMissing} An unpaginated collection holds at most ${formatCount(UNPAGINATED_LIMIT)} items.`,
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
        problems: [...creationProblems, 'conflict', 'precondition-failed'],
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
      ...pastPaths(instance, responses),
      '/-/json/{collection}': { get: asData(readCollection, pageAnswer(false)) },
      '/-/json/{collection}/{key}': { get: asData(readItem, itemAnswer(false)) },
    }),
  }
  return mapValues(paths, describer(instance, responses, isKnown ? name : ANY_TAG, tokenIf(requiresToken)))
}
