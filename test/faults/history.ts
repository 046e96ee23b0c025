/** Everything that was sent to a store and answered by it, kept outside of it; and the check of what it shows after a fault. */

import { AppendLog, KeyedLog, Write, type WriteRequest } from './collection-logs.ts'
import type { Findings } from './report.ts'

/** Only ever appended to, without a key. */
export const LOG = 'log'
/** Appended to, put and deleted by the key `id`. */
export const THINGS = 'things'

export class History {
  readonly findings: Findings
  readonly log: AppendLog
  readonly things: KeyedLog
  #acknowledged = 0
  #now = 0
  #unknown: Write[] = []

  constructor(findings: Findings) {
    this.findings = findings
    this.log = new AppendLog(findings)
    this.things = new KeyedLog(findings)
  }

  /** A moment later than every other one so far. */
  tick(): number {
    return ++this.#now
  }

  beginAppend(id: string, request: WriteRequest, texts: readonly string[]): Write {
    const write = new Write(id, request, this.tick())
    this.log.begin(write, texts)
    return write
  }

  /** `items` says what each key holds when the write is done. */
  beginChange(id: string, request: WriteRequest, items: ReadonlyMap<string, string | null>): Write {
    const write = new Write(id, request, this.tick())
    this.things.begin(write, items)
    return write
  }

  /** `itemCount` is that of the answer to an append. */
  acknowledge(write: Write, itemCount: number | undefined): void {
    write.answeredAt = this.tick()
    write.fate = 'acknowledged'
    this.#acknowledged++
    if (write.request.path === `/${LOG}` && itemCount !== undefined) this.log.acknowledge(write, itemCount)
  }

  /** How many writes were acknowledged since the last call of this. */
  takeAcknowledged(): number {
    const count = this.#acknowledged
    this.#acknowledged = 0
    return count
  }

  refuse(write: Write): void {
    write.fate = 'refused'
  }

  /** Whether it was done shows when the store is read. */
  loseSight(write: Write): void {
    write.fate = 'unknown'
    this.#unknown.push(write)
  }

  /**
   * Compares all items with all that is known, while nobody writes. Answers the writes whose fate was unknown, to be sent
   * again or to be settled.
   */
  check(logTexts: readonly string[], thingTexts: readonly string[]): { write: Write; isThere: boolean }[] {
    const there = new Set([...this.log.check(logTexts), ...this.things.check(thingTexts, this.tick())])
    const unknown = this.#unknown.map((write) => ({ write, isThere: there.has(write) }))
    this.#unknown = []
    return unknown
  }

  /** From now on the write counts as done or as never done, as the store showed it. */
  settle(write: Write, isThere: boolean): void {
    write.fate = isThere ? 'acknowledged' : 'refused'
    write.answeredAt = this.tick()
  }
}
