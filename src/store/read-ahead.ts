/** Reads items ahead of whoever writes them, with a limit on the bytes held, and makes runs of stored items. */

import { setImmediate } from 'node:timers/promises'
import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { ItemPacker, type ItemRun } from '../items/item-run.ts'
import { ItemScanner } from '../items/item-scanner.ts'
import { joinPieces } from './item-text.ts'
import { damagedReam } from './ream.ts'
import type { Segment } from './store.ts'

/** Steps between two turns of the event loop: often enough for the other threads, rarely enough to cost nothing. */
const STEPS_A_TURN = 8

/** What is read ahead while earlier items are being written: keeps both sides busy, and memory flat. */
export const BYTES_IN_FLIGHT = 2 * 1024 * 1024

export class ReadAhead {
  readonly #limitBytes: number
  readonly #running: { readonly step: Promise<unknown>; readonly bytes: number }[] = []
  #bytes = 0
  #stepCount = 0

  constructor(limitBytes: number = BYTES_IN_FLIGHT) {
    this.#limitBytes = limitBytes
  }

  /** Resolves when there is room for more; rejects when the oldest step has failed. */
  async add(step: Promise<unknown>, bytes: number): Promise<void> {
    // It is awaited later: until then a failure must not count as unhandled.
    step.catch(() => {})
    this.#running.push({ step, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#limitBytes) await this.#endOldest()
    // Preparing a step may never wait for anything: this lets the messages of other threads in between.
    if (++this.#stepCount % STEPS_A_TURN === 0) await setImmediate()
  }

  /** Waits until nothing runs any more, then rejects with the failure of the oldest step that failed. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#running.map(({ step }) => step))
    while (this.#running.length > 0) await this.#endOldest()
  }

  async #endOldest(): Promise<void> {
    const [oldest] = this.#running
    await oldest?.step
    this.#bytes -= oldest?.bytes ?? 0
    this.#running.shift()
  }
}

const LINE_BREAK = 10

/** Throws an ItemError, or a StoreError, where the items are not as they were stored. */
export function runMaker(keyField: string | null): (segments: readonly Segment[]) => ItemRun {
  // What is stored was within a limit when it came.
  const scanner = new ItemScanner({ keyField, itemBytes: Number.POSITIVE_INFINITY })
  const packer = new ItemPacker(scanner)
  return (segments) => {
    const text = joinPieces(segments.map((segment) => segment.raw()))
    for (let start = 0; start < text.byteLength; ) {
      const lineBreak = text.indexOf(LINE_BREAK, start)
      const following = lineBreak === -1 ? text.byteLength + ITEM_SEPARATOR.length : lineBreak + 1
      const end = following - ITEM_SEPARATOR.length
      scanner.check(text, start, end)
      packer.add(text, start, end)
      start = following
    }
    const run = packer.take()
    const count = segments.reduce((sum, segment) => sum + segment.count, 0)
    if (run.count !== count || run.text.byteLength !== text.byteLength) throw damagedReam()
    return { ...run, isTransferred: true }
  }
}
