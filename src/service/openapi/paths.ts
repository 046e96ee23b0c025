/** The paths of the description, each with its operations. A test compares them with the routes. */

import {
  APPEND_ITEMS,
  CREATE_COLLECTION,
  DROP_COLLECTION,
  READ_COLLECTION,
  READ_COLLECTION_AS_DATA,
} from './collection-operations.ts'
import type { Described } from './envelope-schema.ts'
import { DELETE_ITEM, PUT_ITEM, READ_ITEM, READ_ITEM_AS_DATA } from './item-operations.ts'
import { describeOperation, type Operation } from './operation.ts'
import type { ParameterName } from './parameters.ts'
import { type Part, reference } from './part.ts'
import type { Place } from './place.ts'
import type { ProblemResponses } from './problem-responses.ts'
import { READ_DESCRIPTION, READ_ENTRY, READ_HEALTH, READ_PROBLEM } from './service-operations.ts'

/** No collection has a capital letter in its name, so none has the name of these. */
export const SERVICE_TAG = 'Service'
export const ANY_TAG = 'Any collection'

type Methods = { readonly get: Operation } & Readonly<Record<string, Operation>>

const OF_COLLECTION: Methods = {
  get: READ_COLLECTION,
  post: APPEND_ITEMS,
  put: CREATE_COLLECTION,
  delete: DROP_COLLECTION,
}
const OF_ITEM: Methods = { get: READ_ITEM, put: PUT_ITEM, delete: DELETE_ITEM }

export class Paths {
  readonly #settings: Omit<Place, 'collection'>
  readonly #problems: ProblemResponses

  constructor(settings: Omit<Place, 'collection'>, problems: ProblemResponses) {
    this.#settings = settings
    this.#problems = problems
  }

  /** The service's own. */
  get service(): Record<string, Part> {
    const place = { ...this.#settings, collection: undefined }
    // These show no data, and are open also where tokens are required.
    const open = { ...place, requiresToken: false }
    return {
      '/': this.#pathItem({ get: READ_ENTRY }, place, SERVICE_TAG),
      '/-/health': this.#pathItem({ get: READ_HEALTH }, open, SERVICE_TAG),
      '/-/openapi.json': this.#pathItem({ get: READ_DESCRIPTION }, place, SERVICE_TAG),
      '/-/problems/{problem}': this.#pathItem({ get: READ_PROBLEM }, open, SERVICE_TAG, 'problem'),
    }
  }

  /** Of whichever collection the path names, also one that is yet to be made. */
  get any(): Record<string, Part> {
    const place = { ...this.#settings, collection: undefined }
    return {
      '/{collection}': this.#pathItem(OF_COLLECTION, place, ANY_TAG, 'collection'),
      '/{collection}/{key}': this.#pathItem(OF_ITEM, place, ANY_TAG, 'collection', 'key'),
      '/-/json/{collection}': this.#pathItem({ get: READ_COLLECTION_AS_DATA }, place, ANY_TAG, 'collection'),
      '/-/json/{collection}/{key}': this.#pathItem({ get: READ_ITEM_AS_DATA }, place, ANY_TAG, 'collection', 'key'),
    }
  }

  /** Of one collection. Without a key field its items have no path. */
  of(collection: Described): Record<string, Part> {
    const place = { ...this.#settings, collection }
    const { name, keyField } = collection
    const items = { [`/${name}/{key}`]: this.#pathItem(OF_ITEM, place, name, 'key') }
    return { [`/${name}`]: this.#pathItem(OF_COLLECTION, place, name), ...(keyField !== null && items) }
  }

  /** HEAD is GET without the body, and every path has OPTIONS (D13). */
  #pathItem(methods: Methods, place: Place, tag: string, ...parameters: readonly ParameterName[]): Part {
    const { get } = methods
    const head = { ...get, name: get.name.replace('read', 'head'), summary: `${get.summary}, without the body` }
    const options = { ...OPTIONS, name: get.name.replace('read', 'options') }
    const all = Object.entries({ ...methods, head, options })
    return {
      ...(parameters.length > 0 && { parameters: parameters.map((name) => reference('parameters', name)) }),
      ...Object.fromEntries(
        all.map(([method, operation]) => [method, describeOperation(operation, place, tag, this.#problems)]),
      ),
    }
  }
}

const OPTIONS: Omit<Operation, 'name'> = {
  needs: 'nothing',
  summary: 'The methods of this path',
  answers: () => ({ '204': reference('responses', 'allowed') }),
}
