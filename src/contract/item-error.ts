/** The error for a text that is not an item, or has no key where one is needed. */

/** What is wrong: the text is not one JSON object, it is too large, or its key cannot be one. */
export type ItemErrorKind = 'form' | 'size' | 'key'

export class ItemError extends Error {
  override readonly name = 'ItemError'
  readonly kind: ItemErrorKind
  /** Reads well after "line 17: ". */
  readonly reason: string
  /** Where in the item it is wrong, in bytes from its beginning. */
  readonly offset: number

  constructor(kind: ItemErrorKind, reason: string, offset = 0, message = reason) {
    super(message)
    this.kind = kind
    this.reason = reason
    this.offset = offset
  }
}
