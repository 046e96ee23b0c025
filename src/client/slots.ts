/** How many requests may be under way at a time: fewer when the server says that it is too much, then slowly more again. */

import { onAbort } from './deadline.ts'

export class Slots {
  /** Those that are under way, or wait before they are sent again. */
  taken = 0
  /** Goes up with every halving. */
  era = 0
  readonly #most: number
  #limit: number
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
    this.#limit = most
  }

  /** Waits for a slot, in the order of asking. Each one has to be given back. Rejects with the reason of the signal. */
  take(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        unlink()
        resolve()
      }
      this.#waiting.add(start)
      const unlink = onAbort(signal, (reason) => {
        this.#waiting.delete(start)
        reject(reason)
      })
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
    for (const start of this.#waiting) {
      if (this.taken >= Math.floor(this.#limit)) return
      this.taken++
      this.#waiting.delete(start)
      start()
    }
  }
}
