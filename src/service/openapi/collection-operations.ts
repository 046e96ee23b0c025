/** The operations of a collection. */

import { UNPAGINATED_LIMIT } from '../../contract/item-run.ts'
import { figure } from '../figure.ts'
import { browsed, json, kept } from './answers.ts'
import { itemExample } from './envelope-examples.ts'
import type { Described } from './envelope-schema.ts'
import type { Operation } from './operation.ts'
import { example, type Part, reference, schema } from './part.ts'
import { nameOf, type Place, shownIn } from './place.ts'
import { itemSchema, pageData } from './read-answers.ts'
import { settingsExample } from './write-answers.ts'
import { BODY_PROBLEMS, WRITE_PROBLEMS } from './write-problems.ts'

export const READ_COLLECTION: Operation = {
  name: 'readCollection',
  summary: 'Read *',
  description: 'Follow `next` until a page has none. An unpaginated collection answers whole, without `item_count`.',
  isBrowsed: true,
  parameters: ['page', 'known', 'encoding'],
  answers: (place) => browsed(place, reference('responses', nameOf(place, 'page'))),
  problems: ['invalid-page', 'collection-not-found'],
}

export const READ_COLLECTION_AS_DATA: Operation = {
  ...READ_COLLECTION,
  name: 'readCollectionAsData',
  summary: 'Read *, in a browser too',
  description: 'The same as without `/-/json`, and never HTML.',
  isBrowsed: false,
  answers: (place) => kept(pageData(place)),
}

export const APPEND_ITEMS: Operation = {
  name: 'appendItems',
  summary: 'Append items to *',
  description: `All of them or none; on disk when it is answered. A token that may \`create:\` the collection makes one with pages and without a key where there is none. An unpaginated collection holds at most ${figure(UNPAGINATED_LIMIT)} items.`,
  needs: 'write',
  parameters: ['idempotencyKey', 'packed'],
  body: (place) => ({ ...json(itemsOf(place), itemsExamples(shownIn(place))), ...LINES }),
  answers: () => ({ '201': reference('responses', 'appended') }),
  problems: [...WRITE_PROBLEMS, ...BODY_PROBLEMS, 'invalid-item', 'conflict'],
}

/** The type has three names. */
export const LINES: Part = Object.fromEntries(
  ['application/x-ndjson', 'application/ndjson', 'application/jsonl'].map((type) => [
    type,
    { schema: schema('ItemLines') },
  ]),
)

function itemsOf(place: Place): Part {
  if (place.collection === undefined) return schema('Items')
  const item = itemSchema(place)
  return { oneOf: [item, { type: 'array', items: item }] }
}

function itemsExamples(collection: Described): Part {
  const [one, another] = [itemExample(collection, 503), itemExample(collection, 504)]
  return { ...example('one', one), ...example('several', [one, another]) }
}

export const CREATE_COLLECTION: Operation = {
  name: 'createCollection',
  summary: 'Create *',
  description:
    'To make one takes a token that may `create:` it. Where there is one with these settings, it is answered.',
  needs: 'create',
  parameters: ['isNew', 'idempotencyKey', 'packed'],
  body: (place) => json(schema('Settings'), example('settings', settingsExample(shownIn(place)))),
  answers: () => ({
    '200': reference('responses', 'collection-there'),
    '201': reference('responses', 'collection-created'),
  }),
  problems: [...WRITE_PROBLEMS, ...BODY_PROBLEMS, 'conflict', 'precondition-failed'],
}

export const DROP_COLLECTION: Operation = {
  name: 'dropCollection',
  summary: 'Drop * with all its items',
  needs: 'write',
  parameters: ['isSeen', 'idempotencyKey'],
  answers: () => ({ '204': reference('responses', 'done') }),
  problems: [...WRITE_PROBLEMS, 'precondition-failed', 'precondition-required'],
}
