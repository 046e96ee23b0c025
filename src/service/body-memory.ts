/** Memory for the bodies of all running requests: for what has arrived of them, and for processing those that are complete. */

import { formatCount } from '../contract/message-text.ts'
import type { Limits } from './limits.ts'
import { RETRY, Refusal } from './problem-reply.ts'

/** What may have arrived of all bodies together, as a multiple of the largest body. */
export const BODIES_ARRIVING = 4
/** The same for one token: two, because a packed body is held together with its unpacked form. */
export const BODIES_A_TOKEN = 2

/**
 * What it takes to process a body, measured with large PATCH requests that replace every item: its bytes are in memory as they
 * came, as items, as strings, and in messages between threads; and each item has a key, a position and a place in the history.
 */
const MEMORY_A_BYTE = 6
const MEMORY_AN_ITEM = 1_200
/** The shortest possible item with a key. */
const MIN_ITEM_BYTES = 8

/** Bodies up to this size have memory of their own, so that they never wait for large ones. They also take what large ones leave. */
const SMALL_BODY_BYTES = 16 * 1024
const SMALL_BODIES_AT_ONCE = 4

/** How long a complete body waits until there is memory to process it. */
export const MAX_PROCESSING_WAIT_MS = 30_000

/** The part that one request holds. */
export interface BodyShare {
  /** Makes the share of what has arrived at least this large. Throws a Refusal when it does not fit. */
  hold(bytes: number): void
  /** Reserves the memory to process a complete body. Waits for requests before it; rejects with a Refusal if that takes too long. */
  process(bytes: number): Promise<void> | undefined
  /** Gives all of it back. */
  release(): void
}

/** For a request whose body nobody reads. */
export const NO_SHARE: BodyShare = { hold() {}, process: () => undefined, release() {} }

/**
 * One token gets half of the memory for what has arrived at most, so that it cannot keep others from writing. Memory to process
 * a body is reserved when all of it is there: a slow client holds none of it. It is enough for `bodiesAtOnce` of the largest, and
 * small bodies have some of their own.
 */
export function createBodyMemory(limits: Limits, bodiesAtOnce: number): (token: string) => BodyShare {
  const forLarge = new ProcessingMemory(processingBytes(limits.bodyBytes, limits) * bodiesAtOnce)
  const forSmall = new ProcessingMemory(processingBytes(SMALL_BODY_BYTES, limits) * SMALL_BODIES_AT_ONCE)
  const maxBytes = limits.bodyBytes * BODIES_ARRIVING
  const maxTokenBytes = limits.bodyBytes * BODIES_A_TOKEN
  let held = 0
  const heldByToken = new Map<string, number>()
  return (token) => {
    let own = 0
    let releaseReserved = (): void => {}
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
      process: (bytes) => {
        const wanted = processingBytes(bytes, limits)
        const isLarge = bytes > SMALL_BODY_BYTES || (!forSmall.hasRoom(wanted) && forLarge.hasRoom(wanted))
        const memory = isLarge ? forLarge : forSmall
        return memory.reserve(wanted, () => {
          releaseReserved = () => memory.release(wanted)
        })
      },
      release: () => {
        resize(0)
        releaseReserved()
        releaseReserved = () => {}
      },
    }
  }
}

function processingBytes(bytes: number, { requestItems }: Limits): number {
  return MEMORY_A_BYTE * bytes + MEMORY_AN_ITEM * Math.min(requestItems, Math.ceil(bytes / MIN_ITEM_BYTES))
}

function busy(who: string, held: number, maxBytes: number): Refusal {
  const detail = `${who} ${formatCount(held)} of the ${formatCount(maxBytes)} bytes of memory for bodies.`
  return new Refusal('service-busy', detail, RETRY)
}

interface Waiter {
  readonly bytes: number
  start(): void
}

/** Handed out in the order in which it was requested, so that a large body is not overtaken by small ones for ever. */
class ProcessingMemory {
  readonly #maxBytes: number
  #reserved = 0
  readonly #waiters: Waiter[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether so much can be reserved at once. */
  hasRoom(bytes: number): boolean {
    return this.#waiters.length === 0 && this.#reserved + bytes <= this.#maxBytes
  }

  /** Calls `onReserved` when the memory is reserved. Returns undefined if that is at once. */
  reserve(bytes: number, onReserved: () => void): Promise<void> | undefined {
    if (this.hasRoom(bytes)) {
      this.#reserved += bytes
      onReserved()
      return undefined
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer)
        onReserved()
        resolve()
      }
      const waiter = { bytes, start }
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        this.#startNext()
        reject(busy('Timed out waiting for memory: earlier requests still use', this.#reserved, this.#maxBytes))
      }, MAX_PROCESSING_WAIT_MS)
      this.#waiters.push(waiter)
    })
  }

  release(bytes: number): void {
    this.#reserved -= bytes
    if (this.#waiters.length > 0) this.#startNext()
  }

  #startNext(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      if (this.#reserved + next.bytes > this.#maxBytes) return
      this.#waiters.shift()
      this.#reserved += next.bytes
      next.start()
    }
  }
}
