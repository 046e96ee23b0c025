/** What a store refuses, and why: the code is for programs, the message for people and says what to do. */

export type StoreErrorCode =
  | 'missing-store'
  | 'not-a-store'
  | 'newer-store'
  | 'unsupported'
  | 'corrupt'
  | 'read-only'
  | 'full'
  | 'no-permission'
  | 'unavailable'
  | 'overloaded'
  | 'outcome-unknown'
  | 'closed'
  | 'invalid-name'
  | 'no-collection'
  | 'collection-exists'
  | 'settings-differ'
  | 'no-key-field'
  | 'no-item'
  | 'unpaginated-full'
  | 'collection-changed'
  | 'precondition-failed'
  | 'request-differs'
  | 'token-exists'
  | 'no-token'
  | 'busy'
  | 'lease-lost'

interface StoreErrorOptions extends ErrorOptions {
  /** The collection that is damaged, where its head could be read: so the caller may know of it. */
  readonly collection?: string | undefined
}

export class StoreError extends Error {
  override readonly name: string = 'StoreError'
  readonly code: StoreErrorCode | 'key-conflict'
  declare readonly collection?: string

  constructor(code: StoreErrorCode | 'key-conflict', message: string, options?: StoreErrorOptions) {
    super(message, options)
    this.code = code
    if (options?.collection !== undefined) this.collection = options.collection
  }
}

/** An item whose key is there already; `index` is its place in the run that was handed over. */
export class ItemConflict extends StoreError {
  override readonly name = 'ItemConflict'
  readonly index: number
  readonly key: string

  constructor(index: number, key: string) {
    super('key-conflict', `There is already an item with the key ${JSON.stringify(key)}.`)
    this.index = index
    this.key = key
  }
}
