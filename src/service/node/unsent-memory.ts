/**
 * The memory that connections hold because their clients do not read what they asked for: unsent replies, and requests that
 * wait behind them. Above the limit the slowest clients are disconnected.
 */

import { readSendQueues } from './linux-proc.ts'

export interface Holder {
  /** Closes the connection. It holds nothing afterwards. */
  drop(): void
  /** Whether its client reads more slowly than it has to. */
  isTooSlow(now: number): boolean
  /** Bytes handed to the kernel so far. */
  readonly handedOver: number
  /** Local and remote port, to look up what the kernel has not sent yet. */
  readonly ports: string
}

interface Held {
  /** With their bytes. */
  readonly things: Map<object, number>
  readonly since: number
  /** Bytes that the client had read before, at least. */
  readonly takenBefore: number
}

/** A client that has held something for less than this cannot be judged yet. */
const NEW_MS = 250

/** What the kernel of a client accepts that reads nothing, and what ours buffers for a client at most. */
const RECEIVE_BYTES = 512 * 1024
const SEND_BYTES = 4 * 1024 * 1024

/** Disconnects down to this part of the limit, so that the slowest are not looked for with every request. */
const SHED = 0.9

export class UnsentMemory {
  readonly #maxBytes: number
  #bytes = 0
  /** How many hold each thing: a page from the cache goes to many clients, and is in memory once. */
  readonly #holdersOf = new Map<object, number>()
  readonly #holders = new Map<Holder, Held>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  hold(holder: Holder, thing: object, bytes: number): void {
    const now = performance.now()
    const others = this.#holdersOf.get(thing) ?? 0
    if (others === 0) this.#bytes += bytes
    this.#holdersOf.set(thing, others + 1)
    const takenBefore = Math.max(0, holder.handedOver - SEND_BYTES)
    const held = this.#holders.get(holder) ?? { things: new Map(), since: now, takenBefore }
    held.things.set(thing, bytes)
    this.#holders.set(holder, held)
    // A single holder stays, so it need not be rated: that reads a file of the system.
    if (this.#bytes > this.#maxBytes && this.#holders.size > 1) this.#shed(now)
  }

  /** Does nothing where it is not held. */
  release(holder: Holder, thing: object): void {
    const things = this.#holders.get(holder)?.things
    const bytes = things?.get(thing)
    if (things === undefined || bytes === undefined) return
    const others = (this.#holdersOf.get(thing) ?? 0) - 1
    if (others > 0) this.#holdersOf.set(thing, others)
    else {
      this.#holdersOf.delete(thing)
      this.#bytes -= bytes
    }
    things.delete(thing)
    if (things.size === 0) this.#holders.delete(holder)
  }

  releaseAll(holder: Holder): void {
    for (const thing of [...(this.#holders.get(holder)?.things.keys() ?? [])]) this.release(holder, thing)
  }

  dropSlow(): void {
    const now = performance.now()
    for (const holder of [...this.#holders.keys()]) if (holder.isTooSlow(now)) holder.drop()
  }

  /**
   * The slowest first; of those that read nothing, the latest first. Clients that share all that they hold with others go
   * last: dropping one frees nothing.
   */
  #shed(now: number): void {
    const queues = readSendQueues()
    const rated = [...this.#holders].map(([holder, held]) => ({
      holder,
      since: held.since,
      isAlone: held.things.keys().some((thing) => this.#holdersOf.get(thing) === 1),
      speed: speedOf(holder, held, queues.get(holder.ports), now),
    }))
    rated.sort((a, b) => Number(b.isAlone) - Number(a.isAlone) || a.speed - b.speed || b.since - a.since)
    for (const { holder } of rated) {
      if (this.#bytes <= this.#maxBytes * SHED || this.#holders.size === 1) return
      holder.drop()
    }
  }
}

/**
 * In bytes per millisecond. Newcomers count as a little faster than clients that have read nothing for longer, the newest most.
 * A client that the kernel does not report on is not blamed.
 */
function speedOf(holder: Holder, { since, takenBefore }: Held, queued: number | undefined, now: number): number {
  const newcomer = now - since < NEW_MS ? since * Number.EPSILON : 0
  if (queued === undefined) return newcomer || Number.MAX_VALUE
  return Math.max(newcomer, (holder.handedOver - takenBefore - queued - RECEIVE_BYTES) / (now - since))
}
