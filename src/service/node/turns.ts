/**
 * Lets requests begin that were sent ahead, a few in each turn of the event loop. The system hands us one new connection a
 * turn: if hundreds of floods had theirs in each, whoever comes new would wait for minutes.
 */

const MOST_A_TURN = 8

export class Turns {
  readonly #queue: (() => void)[] = []
  #isWaiting = false

  /** After those who asked before. */
  await(begin: () => void): void {
    this.#queue.push(begin)
    if (this.#isWaiting) return
    this.#isWaiting = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    this.#isWaiting = this.#queue.length > MOST_A_TURN
    if (this.#isWaiting) setImmediate(() => this.#run())
    for (const begin of this.#queue.splice(0, MOST_A_TURN)) begin()
  }
}
