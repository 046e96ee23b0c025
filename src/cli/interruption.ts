/** SIGINT and SIGTERM: the first asks a command to end cleanly, the second ends the process at once. */

const STATUS = { SIGINT: 130, SIGTERM: 143 } as const

type SignalName = keyof typeof STATUS

/** Why a command that was interrupted did not finish. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitStatus: number

  constructor(signal: SignalName) {
    super(`interrupted by ${signal}`)
    this.exitStatus = STATUS[signal]
  }
}

export class Interruption {
  readonly #controller = new AbortController()

  constructor() {
    for (const name of Object.keys(STATUS)) process.on(name, this.#onSignal)
  }

  /** Aborted by the first signal, with an `Interrupted` as the reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Resolves with the first signal. */
  happened(): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) resolve()
      else this.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  readonly #onSignal = (name: SignalName): void => {
    if (this.signal.aborted) process.exit(STATUS[name])
    this.#controller.abort(new Interrupted(name))
  };

  [Symbol.dispose](): void {
    for (const name of Object.keys(STATUS)) process.off(name, this.#onSignal)
  }
}
