/** What a run of `reams copy` works with. */

import type { Store } from '../../store/store.ts'
import type { StoreLocation } from '../store-location.ts'

export interface Side {
  readonly location: StoreLocation
  readonly store: Store
}

export interface CopyJob {
  readonly from: Side
  readonly to: Side
  /** Swap collections that are there already, and differ. */
  readonly isReplacement: boolean
  readonly signal: AbortSignal
}
