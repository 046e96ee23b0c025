/** The shapes of all bodies: `components.schemas` of the OpenAPI document. */

import { problemUrl } from '../../contract/link.ts'
import { NAME_PATTERN } from '../../contract/name.ts'
import { PAGE_SIZE, UNPAGINATED_LIMIT } from '../../contract/page.ts'
import { PROBLEMS } from '../../contract/problem.ts'
import { MAX_KEY_BYTES } from '../../items/item-scanner.ts'
import { KEY_FIELD_LENGTH } from '../collection-settings.ts'
import type { Instance } from './describe-service.ts'
import { problemExample } from './problems.ts'

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
    maxLength: KEY_FIELD_LENGTH,
    description: 'The field that identifies an item; null for none.',
  },
  paginated: { type: 'boolean', description: 'Whether it answers in pages, or whole.' },
  private: { type: 'boolean', description: 'Whether reading it needs a token.' },
}
const KEY = { type: ['string', 'integer'], minLength: 1, maxLength: MAX_KEY_BYTES, description: 'The key of the item.' }

export function schemas({ baseUrl, limits, collections }: Instance): Part {
  const changed_at = {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When it was last written to; null if not known.',
  }
  const { key, ...kind } = SETTINGS
  const listed = object({
    name: NAME,
    item_count: ITEM_COUNT,
    ...kind,
    key,
    changed_at,
    _links: object({ self: LINK }),
  })
  const listedLinks = { type: 'array', items: object({ href: URL_TEXT, name: NAME }) }
  // Also those that no operation has, because they are about other paths and methods.
  const problemType = { ...URL_TEXT, enum: Object.keys(PROBLEMS).map((name) => problemUrl(baseUrl, name)) }
  return {
    Link: { ...object({ href: URL_TEXT }), additionalProperties: false },
    PageLinks: {
      type: 'object',
      description:
        'Only the first page has no `prev`, and only the last no `next`. `first` carries no `page`, all others do.',
      required: ['self', 'first', 'last'],
      properties: { self: LINK, first: LINK, prev: LINK, next: LINK, last: LINK },
    },
    Item: {
      type: 'object',
      description:
        'A JSON object, as it was written. A number can have more digits than a parser keeps; read such as text.',
      additionalProperties: true,
    },
    Page: pageSchema(undefined, true),
    Whole: pageSchema(undefined, false),
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
      ...object({ type: problemType, title: TEXT, status: STATUS, detail: TEXT, hint: TEXT }),
      description:
        'RFC 9457. `type` leads to a description, `detail` names the value at fault, `hint` says what to do. A path that is not described here is `path-not-found`, a method `method-not-allowed`.',
      examples: [problemExample(baseUrl, 'method-not-allowed')],
    },
    ProblemKind: object({ type: URL_TEXT, status: STATUS, title: TEXT, description: TEXT, hint: TEXT }),
    ...Object.assign(
      {},
      ...collections.map(({ name, keyField, isPaginated }) => ({
        [`${name}.item`]: keyField === null ? ITEM : { allOf: [ITEM, object({ [keyField]: KEY })] },
        [`${name}.page`]: pageSchema(name, isPaginated),
      })),
    ),
  }
}

/** Of any collection without a name: then the one array under `_embedded` has any name. */
function pageSchema(name: string | undefined, isPaginated: boolean): Part {
  const item = name === undefined ? ITEM : schema(`${name}.item`)
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
    ...object({ item_count, _links: schema('PageLinks'), _embedded }),
    description: `A page: all but the last hold ${PAGE_SIZE} items.`,
  }
}
