/** Requests that come in the same turn of the event loop share one reading of a head: it is read after all of them came. */

import type { Head, Store } from '../store/store.ts'

export class SharedHeads {
  readonly #store: Store
  #next = new Map<string, Promise<Head | undefined>>()

  constructor(store: Store) {
    this.#store = store
  }

  read(name: string, isPublicOnly: boolean): Promise<Head | undefined> {
    const sought = `${isPublicOnly} ${name}`
    const shared = this.#next.get(sought)
    if (shared !== undefined) return shared
    const own = new Promise<Head | undefined>((resolve, reject) => {
      setImmediate(() => {
        // From here on a request begins the next reading.
        this.#next.delete(sought)
        this.#store.head(name, { isPublicOnly }).then(resolve, reject)
      })
    })
    this.#next.set(sought, own)
    return own
  }
}
