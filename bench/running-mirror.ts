/** `reams mirror` as a process of its own: one that catches up and ends, and one that goes on. */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, REAMS, runProgram, startProgram } from './child-process.ts'
import { type Memory, MemorySampler } from './memory.ts'

const LOOK_EVERY_MS = 50

export interface MirrorPlan {
  /** URL of the collection that is mirrored. */
  readonly origin: string
  /** Path of the store in which the mirror is. */
  readonly store: string
  readonly signal: AbortSignal
}

/** How long the mirror takes from the start of its process until it is as its origin, and the process has ended. */
export async function catchUpMs(plan: MirrorPlan): Promise<number> {
  return (await runProgram(REAMS, [...wordsOf(plan), '--once'], plan.signal)).wallMs
}

export class RunningMirror implements AsyncDisposable {
  readonly #signal: AbortSignal
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #sampler: MemorySampler

  constructor(plan: MirrorPlan) {
    this.#signal = plan.signal
    this.#child = startProgram(REAMS, wordsOf(plan), plan.signal)
    this.#closed = ended(this.#child)
    this.#sampler = new MemorySampler(this.#child.pid ?? 0)
  }

  get memory(): readonly Memory[] {
    return this.#sampler.samples
  }

  /** Asks again and again, as long as the mirror runs. */
  async until(isSo: () => Promise<boolean>, everyMs = LOOK_EVERY_MS): Promise<void> {
    while (!(await isSo())) {
      if (this.#child.exitCode !== null) throw new Error(`reams mirror ended with status ${this.#child.exitCode}.`)
      await sleep(everyMs, undefined, { signal: this.#signal })
    }
  }

  /** As by Ctrl-C. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#sampler.stop()
    this.#child.kill('SIGINT')
    await this.#closed
  }
}

function wordsOf({ origin, store }: MirrorPlan): string[] {
  return ['mirror', origin, '--store', store, '--log-level', 'warn']
}
