/** Deletes items of a keyed store at random, so that its reams have holes. */

import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { eventKey } from './data.ts'
import { randomSample } from './random.ts'

const DELETES_A_BATCH = 5_000

export interface DeleteOptions {
  readonly deletes: number
  /** All items, of which the deleted ones are drawn. */
  readonly items: number
  readonly signal: AbortSignal
}

/** Answers how long the deletes took. */
export async function deleteAtRandom(path: string, collection: string, options: DeleteOptions): Promise<number> {
  const { deletes, items, signal } = options
  const store = await openSqliteStore({ path })
  try {
    const startedAt = performance.now()
    for (const keys of batches(deletes, items)) {
      signal.throwIfAborted()
      await store.delete(collection, keys)
    }
    return performance.now() - startedAt
  } finally {
    await store.close()
  }
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
