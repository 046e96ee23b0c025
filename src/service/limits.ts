/** Limits on what one caller can use up. */

import { DEFAULT_ITEM_BYTES } from '../items/item-scanner.ts'
import { FULL_PLAN } from '../memory/memory-plan.ts'

export interface Limits {
  /** Bytes of a body, as it is sent and unpacked. */
  readonly bodyBytes: number
  /** Bytes of one item. */
  readonly itemBytes: number
  /** Items of one request. */
  readonly requestItems: number
}

/** 64 MiB, 256 KiB and 100,000 items. With less than 2 GB of memory, bodies and the number of items are smaller. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: FULL_PLAN.bodyBytes,
  itemBytes: DEFAULT_ITEM_BYTES,
  requestItems: FULL_PLAN.requestItems,
}

/** Unpacked size of a body as a multiple of its packed size: above it is a bomb. Small bodies may have any ratio. */
export const MAX_GZIP_RATIO = 200
export const HARMLESS_GZIP_BYTES = 1024 * 1024

/** Bytes of a body with the settings of a collection, and characters of the text that names its key fields. */
export const MAX_SETTINGS_BYTES = 16 * 1024
export const MAX_KEY_FIELD_LENGTH = 256

/** The request line and all headers, as the problem header-too-large says. */
export const MAX_HEADER_BYTES = 16 * 1024

/** How long a request can wait for a change, and how many of one process can at a time: others are answered at once. */
export const MAX_WAIT_SECONDS = 60
export const MAX_WAITING_REQUESTS = 1_000
/** How many of those one caller can have, so that nobody takes all the places. */
export const WAITING_A_CALLER = 100

/** Longer than the minute that load balancers keep a connection: they should close it, not we while they use it. */
export const KEEP_ALIVE_MS = 65_000
/** For the head of a request, and for all of it. */
export const HEAD_TIMEOUT_MS = 60_000
export const REQUEST_TIMEOUT_MS = 300_000
/** The minimum rate at which a client has to read a reply, after a time of grace for each piece. */
export const MIN_BYTES_PER_SECOND = 16_384
export const SEND_GRACE_MS = 10_000
/** How long a refused client may go on sending: if we closed earlier, it would not get the reply. */
export const LINGER_MS = 1_000
