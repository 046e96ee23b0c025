/** The shapes of what a collection answers with: of any collection, and of one whose name, kind and key are known. */

import { UNPAGINATED_LIMIT } from '../../contract/item-run.ts'
import { MAX_KEY_BYTES } from '../../contract/item-scanner.ts'
import { PAGE_SIZE } from '../../contract/page.ts'
import type { CollectionSettings, Head } from '../../store/store.ts'
import { type Part, schema } from './part.ts'

/** What is said of a collection here stays the same whatever is written to it. */
export type Described = Pick<Head, 'name'> & CollectionSettings

/** Of any collection without a name: then the one array under `_embedded` has any name. */
export function envelopeSchema(name: string | undefined, isPaginated: boolean): Part {
  const item = schema(name === undefined ? 'Item' : `${name}.item`)
  const items = { type: 'array', items: item, maxItems: isPaginated ? PAGE_SIZE : UNPAGINATED_LIMIT }
  const _embedded = name === undefined ? anyOne(items) : only(name, items)
  return isPaginated
    ? {
        type: 'object',
        description: `A page: all but the last hold ${PAGE_SIZE} items.`,
        required: ['item_count', '_links', '_embedded'],
        properties: { item_count: ITEM_COUNT, _links: schema('PageLinks'), _embedded },
      }
    : {
        type: 'object',
        description: 'All of an unpaginated collection.',
        required: ['_links', '_embedded'],
        properties: { _links: only('self', schema('Link')), _embedded },
        not: { required: ['item_count'], properties: { item_count: {} } },
      }
}

const ITEM_COUNT = {
  type: 'integer',
  minimum: 0,
  description: 'The exact number of items in the whole collection, not only on this page.',
}

function only(name: string, value: Part): Part {
  return { type: 'object', required: [name], properties: { [name]: value } }
}

function anyOne(value: Part): Part {
  return { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: value }
}

/** Under the names that `nameOf` gives them. */
export function collectionSchemas({ name, keyField, isPaginated }: Described): Record<string, Part> {
  return {
    [`${name}.item`]: keyField === null ? schema('Item') : { allOf: [schema('Item'), only(keyField, KEY)] },
    [`${name}.page`]: envelopeSchema(name, isPaginated),
  }
}

const KEY = { type: ['string', 'integer'], minLength: 1, maxLength: MAX_KEY_BYTES, description: 'The key of the item.' }
