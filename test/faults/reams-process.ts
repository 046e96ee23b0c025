/** `reams` as a process of its own, which a fault can end at any moment. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MAIN } from '../cli/run-cli.ts'

const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/reams', import.meta.url))

/** The last line that `reams serve` prints when it is ready. */
const READY = 'Ctrl-C stops it.'

export interface ProcessOptions {
  /** A command that runs the one behind it in this same process. Default none. */
  readonly wrapper?: readonly string[]
  /** Besides the plain ones. Default none. */
  readonly variables?: Readonly<Record<string, string>>
}

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A server that ended before it was ready. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly'
  readonly ended: Ended

  constructor(ended: Ended) {
    super(`The server ended before it was ready: ${ended.stdout}${ended.stderr}`)
    this.ended = ended
  }
}

export class ReamsProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown[]>
  #stdout = ''
  #stderr = ''

  constructor(words: readonly string[], { wrapper = [], variables = {} }: ProcessOptions = {}) {
    const [command = '', ...rest] = [...wrapper, process.execPath, MAIN, ...words]
    this.#child = spawn(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, ...variables },
    })
    this.#closed = once(this.#child, 'close')
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.#stdout += text
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The address, when the server is ready. */
  async address(): Promise<string> {
    const closed = this.#closed.then(() => 'closed')
    while (!this.#stdout.includes(READY)) {
      const output = this.#child.stdout ? once(this.#child.stdout, 'data') : closed
      if ((await Promise.race([closed, output])) === 'closed') throw new EndedEarly(await this.ends())
    }
    return /http:\/\/[^/\s]+/.exec(this.#stdout)?.[0] ?? ''
  }

  async ends(): Promise<Ended> {
    await this.#closed
    return { status: this.#child.exitCode, stdout: this.#stdout, stderr: this.#stderr }
  }

  /** It does nothing any more, but what the kernel is doing for it. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  /** Asks it to end, as `kill` does. */
  async stop(): Promise<Ended> {
    this.#child.kill('SIGTERM')
    return this.ends()
  }

  /** At once, without a chance to end anything: kill -9. */
  async kill(): Promise<Ended> {
    this.#child.kill('SIGKILL')
    return this.ends()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

export function runReams(words: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return new ReamsProcess(words, options).ends()
}
