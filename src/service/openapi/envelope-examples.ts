/** Examples of what a collection answers with. */

import { collectionUrl, pageLinks } from '../../contract/link.ts'
import type { Described } from './envelope-schema.ts'
import { example, type Part } from './part.ts'

/** So many that the second page holds two items: small enough to be shown whole. */
const ITEM_COUNT = 502

/** For the paths where any collection can stand. */
export const ANY: Described = { name: 'events', keyField: 'id', isPaginated: true, isPrivate: false }

/** Of a collection of this instance only the key is known. */
export function itemExample(collection: Described, key: number): Part {
  if (collection === ANY) return { id: key, title: 'Dance: Gardens' }
  return collection.keyField === null ? {} : { [collection.keyField]: key }
}

export function envelopeExamples(baseUrl: string, collection: Described): Part {
  const { name, isPaginated } = collection
  const _embedded = { [name]: [itemExample(collection, ITEM_COUNT - 1), itemExample(collection, ITEM_COUNT)] }
  if (!isPaginated) return example('whole', { _links: { self: { href: collectionUrl(baseUrl, name) } }, _embedded })
  return {
    ...example('last', { item_count: ITEM_COUNT, _links: pageLinks(baseUrl, name, 2, ITEM_COUNT), _embedded }),
    ...example('empty', { item_count: 0, _links: pageLinks(baseUrl, name, 1, 0), _embedded: { [name]: [] } }),
  }
}
