/** `reams` as a process of its own, which a fault can end at any moment. */

import { tmpdir } from 'node:os'
import { type CliResult, RunningCli } from '../cli/run-cli.ts'

/** The last line that `reams serve` prints when it is ready. */
const READY = 'Ctrl-C stops it.'

export interface ProcessOptions {
  /** A command that runs the one behind it in this same process. Default none. */
  readonly wrapper?: readonly string[]
  /** Besides the plain ones. Default none. */
  readonly variables?: Readonly<Record<string, string>>
}

/** A server that ended before it was ready. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly'
  readonly ended: CliResult

  constructor(ended: CliResult) {
    super(`The server ended before it was ready: ${ended.stdout}${ended.stderr}`)
    this.ended = ended
  }
}

export class ReamsProcess extends RunningCli implements AsyncDisposable {
  readonly startedAt = performance.now()

  constructor(words: readonly string[], { wrapper: under = [], variables }: ProcessOptions = {}) {
    super(words, { in: process.cwd(), under, input: '', variables: { TMPDIR: tmpdir(), ...variables } })
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** The address, when the server is ready: where it listens, whatever its base URL is. */
  async address(): Promise<string> {
    await this.prints(READY).catch(async () => {
      throw new EndedEarly(await this.ends())
    })
    const [, port, host] = /\(port (\d+) of (.+)\)/.exec(this.stdout) ?? []
    return port === undefined ? (/http:\/\/[^/\s]+/.exec(this.stdout)?.[0] ?? '') : `http://${host}:${port}`
  }

  /** It does nothing any more, but what the kernel is doing for it. */
  freeze(): void {
    this.child.kill('SIGSTOP')
  }

  thaw(): void {
    this.child.kill('SIGCONT')
  }

  /** At once, without a chance to end anything: kill -9. */
  kill(): Promise<CliResult> {
    this.child.kill('SIGKILL')
    return this.ends()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

export function runReams(words: readonly string[], options: ProcessOptions = {}): Promise<CliResult> {
  return new ReamsProcess(words, options).ends()
}
