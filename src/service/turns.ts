/** Turns: few of many run in one round of the event loop, so that whatever else came in is not behind all of them. */

export class Turns {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  /** In this round, so far. */
  #taken = 0

  /** `most` have their turn in one round. */
  constructor(most: number) {
    this.#most = most
  }

  /** Runs `work` at once or, if others have taken this round, in one that follows. */
  take(work: () => void): void {
    if (this.#taken === this.#most) {
      this.#waiting.push(work)
      return
    }
    if (this.#taken === 0) setImmediate(() => this.#nextRound())
    this.#taken++
    work()
  }

  #nextRound(): void {
    this.#taken = 0
    for (const work of this.#waiting.splice(0, this.#most)) this.take(work)
  }
}
