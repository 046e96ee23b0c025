/** Remembers what was answered to requests that may be sent again (idempotency), in the transaction of the write. */

import { NO_COLLECTION } from './collection-rules.ts'
import { query, type RememberedRequest, type Steps } from './rows.ts'
import type { Once } from './store.ts'
import { StoreError } from './store-error.ts'

export const REQUEST_LIFETIME_MS = 24 * 60 * 60 * 1000

/** The requests of one transaction to one collection: those that were answered before, and those that are now. */
export class RequestLog {
  readonly #name: string
  readonly #known = new Map<string, RememberedRequest>()
  #fresh: RememberedRequest[] = []

  constructor(name: string) {
    this.#name = name
  }

  /** What was found under the lock on the head: nobody else answers the same request meanwhile. */
  add(found: readonly RememberedRequest[]): void {
    for (const request of found) this.#keep(request)
  }

  get isChanged(): boolean {
    return this.#fresh.length > 0
  }

  /**
   * Writes, unless that was done before to the collection that is there: then it returns the first outcome. The write may create or
   * drop the collection, so its id is asked for before and after.
   */
  runIdempotent({ key, digest }: Once, collectionId: () => number | undefined, write: () => unknown): unknown {
    const known = this.#known.get(placeOf(key, collectionId()))
    if (known !== undefined) {
      if (known.digest !== digest)
        throw new StoreError('request-differs', 'This key was already used for a different request.')
      return known.outcome
    }
    const outcome = write() ?? null
    const remembered = { key, collectionId: collectionId() ?? NO_COLLECTION, digest, outcome }
    this.#keep(remembered)
    this.#fresh.push(remembered)
    return outcome
  }

  *write(): Steps<void> {
    const fresh = this.#fresh
    this.#fresh = []
    if (fresh.length > 0) yield* query((rows) => rows.putRequests(this.#name, fresh))
  }

  #keep(request: RememberedRequest): void {
    this.#known.set(placeOf(request.key, request.collectionId), request)
  }
}

function placeOf(key: string, collectionId: number | undefined): string {
  return `${collectionId} ${key}`
}
