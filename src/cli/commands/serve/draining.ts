/** Whether the server was told to stop. It goes on answering for a while (`--drain-delay`), but new requests had better go elsewhere. */

export class Draining {
  readonly begun: Promise<void>
  #isBegun = false

  /** Resolves when nobody hands over connections any more. */
  readonly portClosed: Promise<void>

  /** `told`: resolves with the first signal. */
  constructor(told: Promise<void>, portClosed: Promise<void> = Promise.resolve()) {
    this.portClosed = portClosed
    this.begun = told.then(() => {
      this.#isBegun = true
    })
  }

  get isBegun(): boolean {
    return this.#isBegun
  }
}
