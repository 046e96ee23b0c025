/** What a stranger can send at most. */

import { DEFAULT_ITEM_BYTES } from '../items/item-scanner.ts'

export interface Limits {
  /** Bytes of a body, as it is sent and unpacked. */
  readonly bodyBytes: number
  /** Bytes of one item. */
  readonly itemBytes: number
  /** Items of one request. */
  readonly requestItems: number
}

/** 64 MiB, 256 KiB and 100,000 items. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 64 * 1024 * 1024,
  itemBytes: DEFAULT_ITEM_BYTES,
  requestItems: 100_000,
}

/** Bodies of the largest size that all requests under way can hold together; of smaller ones, as many more. */
export const BODIES_AT_ONCE = 4
/** The same for the requests of one token: two, because a packed body is held beside what it unpacks to. */
export const BODIES_A_TOKEN = 2

/** Times its packed size that a body can have: more is packed to be harmful. */
export const MAX_GZIP_RATIO = 200

/** Memory for pages that are asked for again, unless a setting says otherwise. */
export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024

/** Memory for answers that clients are slow to take, unless a setting says otherwise. */
export const DEFAULT_UNSENT_BYTES = 256 * 1024 * 1024
