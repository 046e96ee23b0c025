/** Everything that was sent to a store and answered by it, kept outside of it; and the check of what it shows after a fault. */

import { CollectionLog, type Items, type Write, type WriteRequest } from './collection-log.ts'
import type { Findings } from './report.ts'

/** Only ever appended to, without a key. */
export const LOG = 'log'
/** Appended to, put and deleted by the key `id`. */
export const THINGS = 'things'

export class History {
  readonly findings: Findings
  readonly log: CollectionLog
  readonly things: CollectionLog
  #acknowledged = 0
  #now = 0
  #unknown: Write[] = []

  constructor(findings: Findings) {
    this.findings = findings
    this.log = new CollectionLog(findings)
    this.things = new CollectionLog(findings)
  }

  /** A moment later than every other one so far. */
  tick(): number {
    return ++this.#now
  }

  begin(id: string, request: WriteRequest, items: Items): Write {
    const known = { sentAt: this.tick(), answeredAt: Number.POSITIVE_INFINITY, mayBeDone: false }
    const write: Write = { id, request, items, fate: 'under way', ...known }
    const log = request.path === `/${LOG}` ? this.log : this.things
    log.begin(write)
    return write
  }

  /** `itemCount` is that of the answer to an append. */
  acknowledge(write: Write, itemCount: number | undefined): void {
    this.settle(write, true)
    this.#acknowledged++
    if (write.request.path === `/${LOG}` && itemCount !== undefined) this.log.acknowledgeAppend(write, itemCount)
  }

  /** How many writes were acknowledged since the last call of this. */
  takeAcknowledged(): number {
    const count = this.#acknowledged
    this.#acknowledged = 0
    return count
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
    const now = this.tick()
    const there = this.log.checkAppended(logTexts, now).union(this.things.check(thingTexts, now))
    const unknown = this.#unknown.map((write) => ({ write, isThere: there.has(write) }))
    this.#unknown = []
    return unknown
  }

  /** From now on the write counts as done or as never done, as the server said or the store showed it. */
  settle(write: Write, isDone: boolean): void {
    write.fate = isDone ? 'acknowledged' : 'refused'
    write.answeredAt = this.tick()
  }
}
