/** SIGINT, SIGTERM and SIGHUP: the first asks a command to end cleanly, the second ends the process at once. */

import { readFileSync } from 'node:fs'

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

const PARENT_POLL_MS = 500

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
  #watch: NodeJS.Timeout | undefined
  #hangUp: () => void = () => {}

  constructor() {
    for (const name of Object.keys(STATUS))
      if (name !== 'SIGHUP' || !isHangUpIgnored()) process.on(name, this.#onSignal)
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

  /** From now on SIGHUP does this, and does not interrupt. */
  onHangUp(act: () => void): void {
    process.off('SIGHUP', this.#onSignal)
    process.on('SIGHUP', act)
    this.#hangUp = act
  }

  /** Takes the end of the parent process for SIGTERM: a shell between npm and this process does not pass signals on. */
  endWithParent(): void {
    const parent = process.ppid
    this.#watch = setInterval(() => {
      if (process.ppid !== parent && !this.signal.aborted) this.#onSignal('SIGTERM')
    }, PARENT_POLL_MS).unref()
  }

  readonly #onSignal = (name: SignalName): void => {
    if (this.signal.aborted) process.exit(STATUS[name])
    this.#controller.abort(new Interrupted(name))
  };

  [Symbol.dispose](): void {
    clearInterval(this.#watch)
    for (const name of Object.keys(STATUS)) process.off(name, this.#onSignal)
    process.off('SIGHUP', this.#hangUp)
  }
}

/** Under `nohup` SIGHUP is ignored, and a listener would undo that. True if it cannot be found out. */
function isHangUpIgnored(): boolean {
  try {
    const [, ignored = 'f'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return (Number.parseInt(ignored.slice(-1), 16) & 1) === 1
  } catch {
    return true
  }
}
