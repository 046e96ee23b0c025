/** Limits on what one caller can use up, and the memory that the bodies of all running requests hold together. */

import { formatCount } from '../contract/message-text.ts'
import { DEFAULT_ITEM_BYTES } from '../items/item-scanner.ts'
import { RETRY, Refusal } from './problem-reply.ts'

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

/** Memory for the bodies of all running requests together, as a multiple of the largest body. */
export const BODIES_AT_ONCE = 4
/** The same for the requests of one token: two, because a packed body is held together with its unpacked form. */
export const BODIES_A_TOKEN = 2

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

/** Memory for pages that are asked for again, unless a setting says otherwise. */
export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024

/** Memory for replies that clients are slow to take, unless a setting says otherwise. */
export const DEFAULT_UNSENT_BYTES = 256 * 1024 * 1024

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

/** The part that one request holds. */
export interface BodyShare {
  /** Makes the share at least this large. Throws a Refusal when there is no room for it. */
  hold(bytes: number): void
  /** Gives all of it back. */
  release(): void
}

/** For a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, release() {} }

/** `bodyBytes` is the largest body. One token gets half of the memory at most, so that it cannot keep others from writing. */
export function createBodyMemory(bodyBytes: number): (token: string) => BodyShare {
  const maxBytes = bodyBytes * BODIES_AT_ONCE
  const maxTokenBytes = bodyBytes * BODIES_A_TOKEN
  let held = 0
  const heldByToken = new Map<string, number>()
  return (token) => {
    let own = 0
    const resize = (bytes: number): void => {
      held += bytes - own
      const ofToken = (heldByToken.get(token) ?? 0) + bytes - own
      if (ofToken > 0) heldByToken.set(token, ofToken)
      else heldByToken.delete(token)
      own = bytes
    }
    return {
      hold: (bytes) => {
        if (bytes <= own) return
        const [others, ofToken] = [held - own, (heldByToken.get(token) ?? 0) - own]
        if (ofToken + bytes > maxTokenBytes) throw busy('Other requests with this token hold', ofToken, maxTokenBytes)
        if (others + bytes > maxBytes) throw busy('Other requests hold', others, maxBytes)
        resize(bytes)
      },
      release: () => resize(0),
    }
  }
}

function busy(who: string, held: number, maxBytes: number): Refusal {
  const detail = `${who} ${formatCount(held)} of the ${formatCount(maxBytes)} bytes of memory for bodies.`
  return new Refusal('service-busy', detail, RETRY)
}
