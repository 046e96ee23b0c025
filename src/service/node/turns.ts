/**
 * Lets few requests begin in a turn of the event loop: writes, and those that were sent ahead. In each turn the system hands us
 * one new connection and what came on the others: if hundreds were begun in each, a read would wait for all of their writes,
 * and whoever comes new for minutes.
 */

/** They take about half a millisecond. */
const LEAST_A_TURN = 2
/** Of a long queue more are begun, so that it takes no more than so many turns. */
const MOST_TURNS = 16

export class Turns {
  readonly #queue: (() => void)[] = []
  /** In this turn, so far. */
  #begun = 0
  #isCounting = false

  /** At once if there is room in this turn, else after those who asked before. */
  take(begin: () => void): void {
    if (this.#begun >= LEAST_A_TURN || this.#queue.length > 0) {
      this.await(begin)
      return
    }
    this.#begun++
    this.#count()
    begin()
  }

  /** In one of the next turns, after those who asked before. */
  await(begin: () => void): void {
    this.#queue.push(begin)
    this.#count()
  }

  #count(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isCounting = false
    const chosen = this.#queue.splice(0, Math.max(LEAST_A_TURN, this.#queue.length / MOST_TURNS))
    this.#begun = chosen.length
    if (chosen.length > 0) this.#count()
    for (const begin of chosen) begin()
  }
}
