/** A run of items on their way into a store: checked, in order, and already in the form in which they will be served. */

/** Items of an unpaginated collection, at most (D10). */
export const UNPAGINATED_LIMIT = 10_000

/** Bytes of one item, at most, unless a setting says otherwise. */
export const DEFAULT_ITEM_BYTES = 256 * 1024

export interface ItemRun {
  /** How many items. */
  readonly count: number
  /** Their JSON texts in UTF-8, joined by ITEM_SEPARATOR. A line break stands nowhere else. */
  readonly text: Uint8Array
  /** The key of each item, in order; undefined for a collection without a key. */
  readonly keys: readonly string[] | undefined
  /** Whether the text belongs to whoever takes the run, who may free its memory. Default: it stays as it is. */
  readonly isGivenAway?: boolean
}
