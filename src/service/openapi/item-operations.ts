/** The operations of one item, in a collection with a key field. */

import { browsed, kept } from './answers.ts'
import { LINES } from './collection-operations.ts'
import type { Operation } from './operation.ts'
import { reference } from './part.ts'
import { nameOf } from './place.ts'
import { itemContent, itemData } from './read-answers.ts'
import { BODY_PROBLEMS, WRITE_PROBLEMS } from './write-problems.ts'

export const READ_ITEM: Operation = {
  name: 'readItem',
  summary: 'Read one item of *',
  description: 'As it was written.',
  isBrowsed: true,
  parameters: ['known'],
  answers: (place) => browsed(place, reference('responses', nameOf(place, 'item'))),
  problems: ['collection-not-found', 'item-not-found'],
}

export const READ_ITEM_AS_DATA: Operation = {
  ...READ_ITEM,
  name: 'readItemAsData',
  summary: 'Read one item of *, in a browser too',
  description: 'The same as without `/-/json`, and never HTML.',
  isBrowsed: false,
  answers: (place) => kept(itemData(place)),
}

export const PUT_ITEM: Operation = {
  name: 'putItem',
  summary: 'Create or replace one item of *',
  description: 'One that is replaced keeps its place. The key in the path is that of the item.',
  needs: 'write',
  parameters: ['match', 'noneMatch', 'idempotencyKey', 'packed'],
  body: (place) => ({ ...itemContent(place), ...LINES }),
  answers: () => ({
    '200': reference('responses', 'item-replaced'),
    '201': reference('responses', 'item-created'),
  }),
  problems: [...WRITE_PROBLEMS, ...BODY_PROBLEMS, 'invalid-item', 'key-mismatch', 'conflict', 'precondition-failed'],
}

export const DELETE_ITEM: Operation = {
  name: 'deleteItem',
  summary: 'Remove one item of *',
  description: 'Those after it move up.',
  needs: 'write',
  parameters: ['match', 'noneMatch', 'idempotencyKey'],
  answers: () => ({ '204': reference('responses', 'done') }),
  problems: [...WRITE_PROBLEMS, 'item-not-found', 'conflict', 'precondition-failed'],
}
