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

/** `label` is what the store is called in messages, `argument` what stands for it in a command. */
export function missingStore(label: string, argument: string): StoreError {
  return new StoreError(
    'missing-store',
    `There is no store at ${label}. Make one with \`reams import NAME FILE --store ${argument}\`, an empty one with \`reams serve --create --store ${argument}\`, or name another with --store.`,
  )
}

export function newerStore(label: string, version: number, newest: number): StoreError {
  return new StoreError(
    'newer-store',
    `The store ${label} was written by a newer Reams (its schema is ${version}, this one knows ${newest}). Update Reams; the store was not changed.`,
  )
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
