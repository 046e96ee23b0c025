/** Remembers what was answered to requests that may be sent again (idempotency), in the transaction of the write. */

import type { Once } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Transaction } from './transaction.ts'

interface Remembered {
  readonly digest: string
  readonly outcome: unknown
}

/** The requests of one transaction: those that were answered before, and those that are now. */
export class RequestLog {
  readonly #place: number
  readonly #known = new Map<string, Remembered>()
  readonly #fresh = new Map<string, Remembered>()

  constructor(place: number) {
    this.#place = place
  }

  /** To be called under the lock on the head: then nobody else answers the same request meanwhile. */
  async find(transaction: Transaction, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    for (const [key, digest, outcome] of await transaction.all('findRequests', this.#place, keys))
      this.#known.set(String(key), { digest: String(digest), outcome: JSON.parse(String(outcome)) })
  }

  get isChanged(): boolean {
    return this.#fresh.size > 0
  }

  has({ key }: Once): boolean {
    return this.#known.has(key)
  }

  /** Writes, unless that was done before: then the first outcome is answered. */
  doOnce(once: Once, write: () => unknown): unknown {
    const { key, digest } = once
    const known = this.#known.get(key)
    if (known !== undefined) {
      if (known.digest !== digest)
        throw new StoreError('request-differs', 'A request with this key was answered before, and it was another one.')
      return known.outcome
    }
    const remembered = { digest, outcome: write() ?? null }
    this.#known.set(key, remembered)
    this.#fresh.set(key, remembered)
    return remembered.outcome
  }

  write(transaction: Transaction): void {
    if (this.#fresh.size === 0) return
    // Two for each that is added: so what no longer counts grows less, and no write pays for many others.
    void transaction.write('forgetRequests', this.#place, [...this.#fresh.keys()], 2 * this.#fresh.size)
    for (const [key, { digest, outcome }] of this.#fresh)
      void transaction.write('rememberRequest', this.#place, key, digest, JSON.stringify(outcome))
  }
}
