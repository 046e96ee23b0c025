/** A command that is to run until somebody ends it, as whoever watches over it sees to: it is started again where it ends by itself. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'
import type { CliResult } from '../cli/run-cli.ts'
import type { ReamsProcess } from './reams-process.ts'

const RESTART_MS = 200

export class WatchedCommand<Process extends ReamsProcess> implements AsyncDisposable {
  /** Those that live and are to live, the oldest first. */
  processes: Process[] = []
  readonly #all: Process[] = []
  readonly #make: () => Process
  readonly #onEnd: (result: CliResult, process: Process) => void
  #isOver = false

  /** `onEnd` receives how one ended that nobody has ended. */
  constructor(make: () => Process, onEnd: (result: CliResult, process: Process) => void) {
    this.#make = make
    this.#onEnd = onEnd
  }

  /** What all of them have said. */
  get stderr(): string {
    return this.#all.map(({ stderr }) => stderr).join('\n')
  }

  start(): Process {
    const process = this.#make()
    this.processes.push(process)
    this.#all.push(process)
    process.ends().then(async (result) => {
      if (!this.processes.includes(process)) return
      this.processes = this.processes.filter((each) => each !== process)
      this.#onEnd(result, process)
      await sleep(RESTART_MS)
      if (!this.#isOver && this.processes.length === 0) this.start()
    })
    return process
  }

  /** kill -9 of the oldest one. Another one is there already, or is started now or later. */
  async kill(random: Random, mostLaterMs: number): Promise<void> {
    await this.processes.shift()?.kill()
    if (this.processes.length === 0 && random(2) === 0) await sleep(random(mostLaterMs))
    if (this.processes.length === 0) this.start()
  }

  /** From now on none is started. Returns those that live, which may end. */
  release(): Process[] {
    this.#isOver = true
    return this.processes.splice(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
    await Promise.all(this.#all.map((process) => process.kill()))
  }
}
