/** A write that waits for its turn: what it has to know, and what it then does to the draft of its collection. */

import type { Draft } from './draft.ts'

export interface Change<T> {
  /** The keys whose positions it has to know. Default none. */
  readonly keys?: readonly string[]
  /** It reads or changes the items with these keys. Default false. */
  readonly touchesItems?: boolean
  /** Items that it may append. Default 0. */
  readonly appends?: number
  /** It may make the collection. Default false. */
  readonly mayCreate?: boolean
  /** It drops the collection, and shares its commit with no other. Default false. */
  readonly isDrop?: boolean
  /** Does it, or throws before it has changed anything. */
  apply(draft: Draft): T
}
