/**
 * The memory that connections hold because their clients do not take what they asked for: answers on their way out, and
 * requests that were sent ahead. Beyond the limit the connection goes that got nothing rid of for the longest time.
 */

export interface Holder {
  /** Closes the connection. It holds nothing afterwards. */
  drop(): void
  /** Whether its client takes less than it has to. */
  isTooSlow(now: number): boolean
}

export class UnsentMemory {
  readonly #maxBytes: number
  #bytes = 0
  /** How many hold each: a page from the cache goes to many, and is in memory once. */
  readonly #things = new Map<object, number>()
  /** How many things each holds; the one that got rid of something last comes last. */
  readonly #holders = new Map<Holder, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  hold(holder: Holder, thing: object, bytes: number): void {
    const others = this.#things.get(thing) ?? 0
    if (others === 0) this.#bytes += bytes
    this.#things.set(thing, others + 1)
    this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + 1)
    for (const slowest of this.#holders.keys()) {
      if (this.#bytes <= this.#maxBytes || this.#holders.size === 1) return
      slowest.drop()
    }
  }

  release(holder: Holder, thing: object, bytes: number): void {
    const others = (this.#things.get(thing) ?? 0) - 1
    if (others > 0) this.#things.set(thing, others)
    else {
      this.#things.delete(thing)
      this.#bytes -= bytes
    }
    const left = (this.#holders.get(holder) ?? 0) - 1
    this.#holders.delete(holder)
    if (left > 0) this.#holders.set(holder, left)
  }

  dropSlow(): void {
    const now = performance.now()
    for (const holder of [...this.#holders.keys()]) if (holder.isTooSlow(now)) holder.drop()
  }

  /** The holder got rid of a part of something. */
  touch(holder: Holder): void {
    const count = this.#holders.get(holder)
    if (count === undefined) return
    this.#holders.delete(holder)
    this.#holders.set(holder, count)
  }
}
