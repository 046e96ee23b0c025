/** What a server holds of the machine while it runs, compared by quarters of the time. */

import { readdirSync, readFileSync } from 'node:fs'
import { mean } from '../../bench/measure.ts'
import { MEGABYTE, readMemory, requireMemory } from '../../bench/memory.ts'

const SAMPLE_EVERY_MS = 2_000

/** Throws when the server has ended. */
const sampleOf = (pid: number) => ({
  megabytes: requireMemory(readMemory(pid)).rssBytes / MEGABYTE,
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  threads: Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
})

type Sample = ReturnType<typeof sampleOf>

export class ServerSamples implements Disposable {
  readonly #samples: Sample[] = []
  readonly #timer: NodeJS.Timeout

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#samples.push(sampleOf(pid)), SAMPLE_EVERY_MS)
  }

  /** The last sample, for people. */
  get last(): string {
    const { megabytes = 0, descriptors, threads } = this.#samples.at(-1) ?? {}
    return `${megabytes.toFixed(1)} MB, ${descriptors} descriptors, ${threads} threads`
  }

  /** Of four quarters, each as long as the others. */
  quarters(figure: keyof Sample): { mean: number; most: number }[] {
    const edge = (quarter: number) => Math.round((this.#samples.length * quarter) / 4)
    return [0, 1, 2, 3].map((quarter) => {
      const values = this.#samples.slice(edge(quarter), edge(quarter + 1)).map((sample) => sample[figure])
      return { mean: mean(values), most: Math.max(...values) }
    })
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
