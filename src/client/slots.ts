/** How many requests may be under way at a time: fewer when the server says that it is too much, then slowly more again. */

export class Slots {
  /** Those that are under way, or wait before they are sent again. */
  taken = 0
  /** Goes up with every halving. */
  era = 0
  readonly #most: number
  #limit: number
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#most = most
    this.#limit = most
  }

  /** Waits for a slot, in the order of asking. Each one has to be given back. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#fill()
    })
  }

  giveBack(): void {
    this.taken--
    this.#fill()
  }

  /** Halves the limit, unless the request was sent (in `era`) before the last halving, of which the server could not know. */
  shrink(era: number): void {
    if (era !== this.era) return
    this.era++
    this.#limit = Math.max(1, this.#limit / 2)
  }

  /** An answer came as it should: when the limit was used once around, it is one more. */
  grow(): void {
    this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit)
    this.#fill()
  }

  #fill(): void {
    while (this.#waiting.length > 0 && this.taken < Math.floor(this.#limit)) {
      this.taken++
      this.#waiting.shift()?.()
    }
  }
}
