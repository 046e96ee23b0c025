/**
 * Begins only a few writes and pipelined requests in each turn of the event loop. A turn reads from all open connections and
 * accepts one new one. If each of them could begin a write, one turn would take as long as hundreds of writes: reads would
 * wait that long, and the last of many new connections for minutes.
 */

/** Two writes take about half a millisecond. */
const MAX_PER_TURN = 2

type Begin = () => void

export class WriteThrottle {
  /** A queue for each caller, by its Authorization header. The first caller in the map is served next. */
  readonly #queues = new Map<string, Begin[]>()
  #begunInTurn = 0
  #isScheduled = false

  /** Begins at once if there is room in this turn, else when it is the caller's turn. */
  begin(caller: string, begin: Begin): void {
    if (this.#begunInTurn === MAX_PER_TURN || this.#queues.size > 0) {
      this.beginLater(caller, begin)
      return
    }
    this.#begunInTurn++
    this.#schedule()
    begin()
  }

  /** Begins when it is the caller's turn, and not before the next turn of the event loop. */
  beginLater(caller: string, begin: Begin): void {
    const queue = this.#queues.get(caller)
    if (queue === undefined) this.#queues.set(caller, [begin])
    else queue.push(begin)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#nextTurn())
  }

  #nextTurn(): void {
    this.#isScheduled = false
    this.#begunInTurn = 0
    for (const [caller, queue] of this.#queues) {
      if (this.#begunInTurn === MAX_PER_TURN) break
      this.#begunInTurn++
      const begin = queue.shift()
      // Behind the others, if it has more.
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue)
      begin?.()
    }
    if (this.#begunInTurn > 0) this.#schedule()
  }
}
