/** The latency of pages through HTTP, several kinds of request compared with each other. */

import { inTurn, median, percentile } from './measure.ts'
import type { Encoding, PageClient } from './page-client.ts'

/** One kind of request. */
export interface Side {
  readonly client: PageClient
  readonly encoding: Encoding
  /** Asked for one after the other, and from the start again. */
  readonly paths: readonly string[]
}

export interface Latency {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly medianBodyBytes: number
}

export interface LatencyOptions {
  /** How many of each side count. */
  readonly requests: number
  /** Requests of one side before it is the next one's turn. Default 50. */
  readonly block?: number
  /** A side that has used up this time makes no more requests. Default: no limit. */
  readonly budgetMs?: number
  readonly signal: AbortSignal
}

/** Measures all sides in turn, once a quarter as many requests have brought the servers up to speed. */
export async function compareLatencies<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  options: LatencyOptions,
): Promise<Record<Name, Latency>> {
  const { requests, budgetMs = Number.POSITIVE_INFINITY, signal } = options
  const block = Math.min(options.block ?? 50, requests)
  const recorders = (Object.entries(sides) as [Name, Side][]).map(([name, side]) => ({
    name,
    warmUp: new LatencyRecorder(side, budgetMs / 4),
    counted: new LatencyRecorder(side, budgetMs),
  }))
  await inTurn(Math.ceil(requests / 4 / block), recorders, ({ warmUp }) => warmUp.fetch(block, signal))
  await inTurn(Math.ceil(requests / block), recorders, ({ counted }) => counted.fetch(block, signal))
  return Object.fromEntries(recorders.map(({ name, counted }) => [name, counted.latency()])) as Record<Name, Latency>
}

/** One page as gzip, again and again. */
export function pageOf(client: PageClient, collection: string, page: number): Side {
  return { client, encoding: 'gzip', paths: [`/${collection}?page=${page}`] }
}

/** Asks for pages and remembers how long each took. */
export class LatencyRecorder {
  readonly #side: Side
  readonly #budgetMs: number
  readonly #durationsMs: number[] = []
  readonly #bodyBytes: number[] = []
  #usedMs = 0

  constructor(side: Side, budgetMs = Number.POSITIVE_INFINITY) {
    this.#side = side
    this.#budgetMs = budgetMs
  }

  async fetch(count: number, signal: AbortSignal): Promise<void> {
    const { client, paths, encoding } = this.#side
    for (let done = 0; done < count && this.#usedMs < this.#budgetMs; done++) {
      signal.throwIfAborted()
      const path = paths[this.#durationsMs.length % paths.length] ?? ''
      const { durationMs, bodyBytes } = await client.time(path, encoding)
      this.#usedMs += durationMs
      this.#durationsMs.push(durationMs)
      this.#bodyBytes.push(bodyBytes)
    }
  }

  latency(): Latency {
    return {
      requests: this.#durationsMs.length,
      p50Ms: median(this.#durationsMs),
      p99Ms: percentile(this.#durationsMs, 99),
      medianBodyBytes: median(this.#bodyBytes),
    }
  }
}
