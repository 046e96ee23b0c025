/** What a server holds of the machine while it runs: memory, descriptors and threads, compared by quarters of the time. */

import { readdirSync, readFileSync } from 'node:fs'
import { mean } from '../../bench/measure.ts'
import { MEGABYTE, readMemory, requireMemory } from '../../bench/memory.ts'

const SAMPLE_EVERY_MS = 2_000

interface Sample {
  readonly rssMegabytes: number
  readonly descriptors: number
  readonly threads: number
}

interface Level {
  readonly mean: number
  readonly most: number
}

export type Quarter = Readonly<Record<keyof Sample, Level>>

export class ServerSamples implements Disposable {
  readonly #samples: Sample[] = []
  readonly #timer: NodeJS.Timeout

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#samples.push(sampleOf(pid)), SAMPLE_EVERY_MS)
  }

  get last(): Sample | undefined {
    return this.#samples.at(-1)
  }

  /** Four, each as long as the others. */
  quarters(): Quarter[] {
    const edge = (quarter: number) => Math.round((this.#samples.length * quarter) / 4)
    return [0, 1, 2, 3].map((quarter) => {
      const samples = this.#samples.slice(edge(quarter), edge(quarter + 1))
      const level = (name: keyof Sample): Level => {
        const values = samples.map((sample) => sample[name])
        return { mean: mean(values), most: Math.max(...values) }
      }
      return { rssMegabytes: level('rssMegabytes'), descriptors: level('descriptors'), threads: level('threads') }
    })
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Throws when the server has ended. */
function sampleOf(pid: number): Sample {
  return {
    rssMegabytes: requireMemory(readMemory(pid)).rssBytes / MEGABYTE,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  }
}
