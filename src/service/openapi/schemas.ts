/** The shapes of bodies that are the same in every collection. */

import { problemUrl } from '../../contract/link.ts'
import { NAME_PATTERN } from '../../contract/name.ts'
import { PROBLEMS } from '../../contract/problem.ts'
import { KEY_FIELD_LENGTH } from '../collection-settings.ts'
import type { Limits } from '../limits.ts'
import { envelopeSchema } from './envelope-schema.ts'
import { type Part, schema } from './part.ts'
import { problemExample } from './problem-example.ts'

const TEXT = { type: 'string' } as const
const URL_TEXT = { type: 'string', format: 'uri' } as const
const NAME = { type: 'string', pattern: NAME_PATTERN } as const
const BOOLEAN = { type: 'boolean' } as const

/** An object that has all of these fields. More can be added within a version (D21). */
function object(properties: Part, description?: string): Part {
  const required = Object.keys(properties)
  return { type: 'object', ...(description !== undefined && { description }), required, properties }
}

function array(items: Part, maxItems?: number): Part {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) }
}

function whole(description: string): Part {
  return { type: 'integer', minimum: 0, description }
}

const ITEM_COUNT = whole('The exact number of items in the whole collection.')
const VERSION = whole('Goes up with every write to the collection.')

const KEY_FIELD = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: KEY_FIELD_LENGTH,
  description: 'The field that identifies an item; null for none.',
}
const PAGINATED = { ...BOOLEAN, description: 'Whether it answers in pages, or whole.' }
const PRIVATE = { ...BOOLEAN, description: 'Whether reading it needs a token.' }

export function sharedSchemas(baseUrl: string, limits: Limits): Record<string, Part> {
  return {
    Link: { ...object({ href: URL_TEXT }), additionalProperties: false },
    PageLinks: pageLinks(),
    Item: {
      type: 'object',
      description:
        'A JSON object, as it was written. A number can have more digits than a parser keeps; read such as text.',
      additionalProperties: true,
    },
    Page: envelopeSchema(undefined, true),
    Whole: envelopeSchema(undefined, false),
    Items: {
      description: 'One item, or an array of them.',
      oneOf: [schema('Item'), array(schema('Item'), limits.requestItems)],
    },
    ItemLines: { type: 'string', description: 'NDJSON: one item a line.' },
    Entry: entry(),
    Settings: settings(),
    Collection: object({
      name: NAME,
      key: KEY_FIELD,
      paginated: PAGINATED,
      private: PRIVATE,
      item_count: ITEM_COUNT,
      version: VERSION,
    }),
    Appended: object({ appended: whole('How many items the request had.'), item_count: ITEM_COUNT, version: VERSION }),
    Written: object({ item_count: ITEM_COUNT, version: VERSION }),
    Health: object({
      status: {
        type: 'string',
        enum: ['ok', 'degraded'],
        description: 'Degraded: a part of the store is away, and the rest is served.',
      },
    }),
    Description: object({ openapi: TEXT, info: { type: 'object' }, paths: { type: 'object' } }, 'This document.'),
    Problem: problem(baseUrl),
    ProblemKind: object({ type: URL_TEXT, status: STATUS, title: TEXT, description: TEXT, hint: TEXT }),
  }
}

function pageLinks(): Part {
  const properties = {
    self: schema('Link'),
    first: schema('Link'),
    prev: schema('Link'),
    next: schema('Link'),
    last: schema('Link'),
  }
  return {
    type: 'object',
    description:
      'Only the first page has no `prev`, and only the last no `next`. `first` carries no `page`, all others do.',
    required: ['self', 'first', 'last'],
    properties,
  }
}

function entry(): Part {
  const link = object({ href: URL_TEXT, name: NAME })
  const collection = object({
    name: NAME,
    item_count: ITEM_COUNT,
    paginated: PAGINATED,
    private: PRIVATE,
    key: KEY_FIELD,
    changed_at: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When it was last written to; null if not known.',
    },
    _links: object({ self: schema('Link') }),
  })
  const links = object({ self: schema('Link'), 'service-desc': schema('Link'), collections: array(link) })
  const parts = { _links: links, _embedded: object({ collections: array(collection) }) }
  const incomplete = { type: 'boolean', description: 'There when a part of the store is away: there may be more.' }
  return { ...object(parts), properties: { ...parts, incomplete } }
}

function settings(): Part {
  const properties = {
    key: { ...KEY_FIELD, default: null },
    paginated: { ...PAGINATED, default: true },
    private: { ...PRIVATE, default: false },
  }
  return { type: 'object', properties, additionalProperties: false }
}

const STATUS = { type: 'integer', minimum: 400, maximum: 599 }

/** Also those that no operation has, because they are about other paths and methods. */
function problem(baseUrl: string): Part {
  const types = Object.keys(PROBLEMS).map((name) => problemUrl(baseUrl, name))
  const properties = { type: { ...URL_TEXT, enum: types }, title: TEXT, status: STATUS, detail: TEXT, hint: TEXT }
  const description =
    'RFC 9457. `type` leads to a description, `detail` names the value at fault, `hint` says what to do. A path that is not described here is `path-not-found`, a method `method-not-allowed`.'
  return { ...object(properties, description), examples: [problemExample(baseUrl, 'method-not-allowed')] }
}
