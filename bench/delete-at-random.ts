/** Deletes items of a keyed store at random, so that its reams have holes. */

import { DataLocation } from '../src/cli/data-location.ts'
import { withStore } from '../src/cli/open-store.ts'
import { eventKey } from './data.ts'
import { randomSample } from './random.ts'

const DELETES_A_BATCH = 5_000

export interface DeleteOptions {
  readonly deletes: number
  /** All items, of which the deleted ones are drawn. */
  readonly items: number
  readonly signal: AbortSignal
}

/** Answers how long the deletes took. The store is a path, or the URL of a database. */
export function deleteAtRandom(store: string, collection: string, options: DeleteOptions): Promise<number> {
  const { deletes, items, signal } = options
  return withStore(new DataLocation(store), {}, async (store) => {
    const startedAt = performance.now()
    for (const keys of batches(deletes, items)) {
      signal.throwIfAborted()
      await store.delete(collection, keys)
    }
    return performance.now() - startedAt
  })
}

/** In the order of the items: hardly a ream is then rewritten twice. */
function* batches(deletes: number, items: number): Generator<string[]> {
  let batch: string[] = []
  for (const index of randomSample(deletes, items, 3)) {
    batch.push(eventKey(index))
    if (batch.length === DELETES_A_BATCH) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
