/** The memory of another process, as /proc tells it. */

import { readFileSync } from 'node:fs'
import { median } from './measure.ts'
import type { Figure } from './question.ts'

const SAMPLE_EVERY_MS = 100

export interface Memory {
  /** Resident now. */
  readonly rssBytes: number
  /** The most that was ever resident. */
  readonly peakRssBytes: number
}

/** Undefined when the process has ended, or where there is no /proc. */
export function readMemory(pid: number): Memory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return { rssBytes: kibField(status, 'VmRSS'), peakRssBytes: kibField(status, 'VmHWM') }
  } catch {
    return undefined
  }
}

/** Throws where there is nothing to read. */
export function requireMemory(memory: Memory | undefined): Memory {
  if (memory === undefined)
    throw new Error('The memory of a process is read from /proc, which needs Linux. Name the other questions to run.')
  return memory
}

export const MEGABYTE = 1e6

/** The figures of a program that must stay within `atMost` megabytes, and must not grow. */
export function memoryFigures(program: string, samples: readonly Memory[], atMost: number): Figure[] {
  const peak = peakMegabytes(samples)
  return [
    {
      measured: `peak memory of ${program}`,
      value: peak,
      unit: 'MB',
      required: { atMost },
      raw: { peakMegabytes: peak, samples: samples.length },
    },
    growthFigure('its memory', samples),
  ]
}

/** Of a program that must not grow. */
export function growthFigure(memory: string, samples: readonly Memory[]): Figure {
  const { value, ...raw } = growth(samples)
  return {
    measured: `${memory} in the last quarter of the time ÷ in the second quarter`,
    value,
    required: { atMost: 1.1 },
    raw,
  }
}

/** The most that was ever resident. */
export function peakMegabytes(samples: readonly Memory[]): number {
  return requireMemory(samples.at(-1)).peakRssBytes / MEGABYTE
}

/** The memory in the last quarter of the time ÷ in the second quarter, when a program has warmed up. */
function growth(samples: readonly Memory[]) {
  requireMemory(samples[0])
  const rss = samples.map(({ rssBytes }) => rssBytes / MEGABYTE)
  const secondQuarterMegabytes = median(rss.slice(Math.floor(rss.length / 4), Math.ceil(rss.length / 2)))
  const lastQuarterMegabytes = median(rss.slice(Math.floor((rss.length * 3) / 4)))
  const value = lastQuarterMegabytes / secondQuarterMegabytes
  return { value, secondQuarterMegabytes, lastQuarterMegabytes, samples: rss.length }
}

function kibField(status: string, name: string): number {
  const digits = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (digits === undefined) throw new Error(`There is no ${name} in the status of the process.`)
  return Number(digits) * 1024
}

/** Reads the memory of a process again and again while it runs. */
export class MemorySampler {
  readonly samples: Memory[] = []
  readonly #timer: NodeJS.Timeout

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      const memory = readMemory(pid)
      if (memory !== undefined) this.samples.push(memory)
    }, SAMPLE_EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
