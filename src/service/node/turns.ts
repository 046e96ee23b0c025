/**
 * Lets few requests begin in a turn of the event loop: writes, and those that were sent ahead. In each turn the system hands us
 * one new connection and what came on the others: if hundreds were begun in each, a read would wait for all of their writes,
 * and a newcomer for minutes.
 */

/** They take about half a millisecond. */
const MAX_PER_TURN = 2

type Begin = () => void

export class Turns {
  /** A queue for each caller, by what it sends as Authorization. The first is the next to have one of its requests begun. */
  readonly #queues = new Map<string, Begin[]>()
  /** In this turn, so far. */
  #begun = 0
  #isCounting = false

  /** At once if there is room in this turn, else when it is the caller's turn. */
  take(caller: string, begin: Begin): void {
    if (this.#begun === MAX_PER_TURN || this.#queues.size > 0) {
      this.await(caller, begin)
      return
    }
    this.#begun++
    this.#count()
    begin()
  }

  /** When it is the caller's turn, and not before the next turn of the event loop. */
  await(caller: string, begin: Begin): void {
    const queue = this.#queues.get(caller)
    if (queue === undefined) this.#queues.set(caller, [begin])
    else queue.push(begin)
    this.#count()
  }

  #count(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isCounting = false
    this.#begun = 0
    for (const [caller, queue] of this.#queues) {
      if (this.#begun === MAX_PER_TURN) break
      this.#begun++
      const begin = queue.shift()
      // Behind the others, if it has more.
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue)
      begin?.()
    }
    if (this.#begun > 0) this.#count()
  }
}
