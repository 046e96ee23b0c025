/** The answers to writes that are done: the same in every collection. */

import { answer, json } from './answers.ts'
import { ANY } from './envelope-examples.ts'
import type { Described } from './envelope-schema.ts'
import { example, type Part, schema } from './part.ts'

export function settingsExample({ keyField: key, isPaginated: paginated, isPrivate }: Described): Part {
  return { key, paginated, private: isPrivate }
}

const APPENDED = json(schema('Appended'), example('appended', { appended: 2, item_count: 504, version: 3 }))
const COLLECTION = json(
  schema('Collection'),
  example('collection', { name: ANY.name, ...settingsExample(ANY), item_count: 0, version: 1 }),
)
const REPLACED = json(schema('Written'), example('replaced', { item_count: 502, version: 3 }))
const CREATED = json(schema('Written'), example('created', { item_count: 503, version: 3 }))

export const WRITE_ANSWERS = {
  done: { description: 'It is done, and on disk.' },
  appended: answer('The items are appended.', APPENDED, 'Cache-Control', 'Location'),
  'collection-there': answer('It is there, with these settings.', COLLECTION, 'Cache-Control'),
  'collection-created': answer('It is created.', COLLECTION, 'Cache-Control', 'Location'),
  'item-replaced': answer('The item is replaced.', REPLACED, 'Cache-Control', 'ETag'),
  'item-created': answer('The item is created.', CREATED, 'Cache-Control', 'ETag'),
} as const satisfies Readonly<Record<string, Part>>
