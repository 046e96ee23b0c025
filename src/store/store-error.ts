/** What a store refuses, and why: the code is for programs, the message for people and says what to do. */

export type StoreErrorCode =
  | 'missing-store'
  | 'not-a-store'
  | 'other-format'
  | 'unsupported'
  | 'corrupt'
  | 'read-only'
  | 'full'
  | 'no-permission'
  | 'writes-denied'
  | 'unavailable'
  | 'overloaded'
  | 'outcome-unknown'
  | 'closed'
  | 'invalid-name'
  | 'invalid-key-fields'
  | 'no-collection'
  | 'collection-exists'
  | 'settings-differ'
  | 'no-key-field'
  | 'no-item'
  | 'no-state'
  | 'state-expired'
  | 'unpaginated-full'
  | 'collection-changed'
  | 'precondition-failed'
  | 'request-differs'
  | 'token-exists'
  | 'no-token'
  | 'busy'
  | 'lease-lost'
  | 'mirror'

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
    `There is no store at ${label}. Make one with \`reams import NAME FILE --store ${argument}\`, an empty one with \`reams serve --create --store ${argument}\` (in code: \`create: true\`), or name another with --store.`,
  )
}

/** The storage format that this Reams reads and writes. */
export const FORMAT_VERSION = 5

/** Refuses a store of another format. */
export function checkFormat(label: string, version: number): void {
  if (version === FORMAT_VERSION) return
  const formats = `its format is ${version}, this one knows ${FORMAT_VERSION}`
  throw new StoreError(
    'other-format',
    version > FORMAT_VERSION
      ? `The store ${label} was written by a newer Reams (${formats}). Update Reams; the store was not changed.`
      : `The store ${label} was written by an earlier Reams (${formats}). Export each collection with that one (reams export NAME -o NAME.ndjson), import it into a new store with this one (reams import NAME NAME.ndjson); the store was not changed.`,
  )
}

/** An item whose key is there already; `index` is its place in the run that was handed over. */
export class ItemConflict extends StoreError {
  override readonly name = 'ItemConflict'
  readonly index: number
  readonly key: string
  /** The index in this load of the item that took the key, if this load added it. */
  readonly earlier: number | undefined

  constructor(index: number, key: string, earlier?: number) {
    super('key-conflict', `There is already an item with the key ${JSON.stringify(key)}.`)
    this.index = index
    this.key = key
    this.earlier = earlier
  }
}
