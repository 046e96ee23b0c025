/** Remembers what was answered to requests that may be sent again (idempotency), in the transaction of the write. */

import { NO_COLLECTION } from '../../collection-rules.ts'
import type { Once } from '../../store.ts'
import { StoreError } from '../../store-error.ts'
import type { Transaction } from '../server/transaction.ts'

interface Remembered {
  readonly key: string
  readonly collectionId: number
  readonly digest: string
  readonly outcome: unknown
}

/** The requests of one transaction: those that were answered before, and those that are now. */
export class RequestLog {
  readonly #shardKey: number
  readonly #known = new Map<string, Remembered>()
  readonly #fresh: Remembered[] = []

  constructor(shardKey: number) {
    this.#shardKey = shardKey
  }

  /** To be called under the lock on the head: then nobody else answers the same request meanwhile. */
  async find(transaction: Transaction, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    for (const [key, id, digest, outcome] of await transaction.all('findRequests', this.#shardKey, keys))
      this.#keep({
        key: String(key),
        collectionId: Number(id),
        digest: String(digest),
        outcome: JSON.parse(String(outcome)),
      })
  }

  get isChanged(): boolean {
    return this.#fresh.length > 0
  }

  /**
   * Writes, unless that was done before to the collection that is there: then the first outcome is answered. The write may
   * make the collection, so its id is asked for before and after.
   */
  doOnce({ key, digest }: Once, collectionId: () => number | undefined, write: () => unknown): unknown {
    const known = this.#known.get(nameOf(key, collectionId()))
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

  #keep(remembered: Remembered): void {
    this.#known.set(nameOf(remembered.key, remembered.collectionId), remembered)
  }

  write(transaction: Transaction): void {
    if (this.#fresh.length === 0) return
    const keys = this.#fresh.map(({ key }) => key)
    // Two for each that is added: so what no longer counts grows less, and no write pays for many others.
    void transaction.write('forgetRequests', this.#shardKey, keys, 2 * keys.length)
    for (const { key, collectionId, digest, outcome } of this.#fresh)
      void transaction.write('rememberRequest', this.#shardKey, key, collectionId, digest, JSON.stringify(outcome))
  }
}

function nameOf(key: string, collectionId: number | undefined): string {
  return `${collectionId} ${key}`
}
