/** What is known of a collection to which items are only ever appended. */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import type { Findings } from './findings.ts'
import type { Write } from './write.ts'

interface Batch {
  readonly write: Write
  readonly texts: readonly string[]
}

export class AppendLog {
  readonly #findings: Findings
  readonly #batches: Batch[] = []
  readonly #batchOf = new Map<string, Batch>()
  /** What an answer has shown or promised at each position. It can never be anything else: all reads are prefixes of one another. */
  readonly #known: string[] = []
  /** As many items at least has every read that begins now. */
  leastCount = 0

  constructor(findings: Findings) {
    this.#findings = findings
  }

  begin(write: Write, texts: readonly string[]): void {
    const batch = { write, texts }
    this.#batches.push(batch)
    for (const text of texts) this.#batchOf.set(text, batch)
  }

  /** The answer says where the items are. */
  acknowledge(write: Write, itemCount: number): void {
    const batch = this.#batches.findLast((each) => each.write === write)
    if (batch === undefined) throw new Error(`No items were sent with ${write.id}.`)
    this.#learn(itemCount - batch.texts.length, batch.texts, `the answer to ${write.id}`)
    this.leastCount = Math.max(this.leastCount, itemCount)
  }

  /** One page as it was answered; `leastCount` is that of the moment when the read began. */
  readPage(page: number, itemCount: number, texts: readonly string[], leastCount: number): void {
    if (itemCount < leastCount)
      this.#findings.add('other', `a read shows ${itemCount} items after ${leastCount} were acknowledged or read`)
    this.#learn((page - 1) * PAGE_SIZE, texts, `page ${page} of ${itemCount} items`)
    this.leastCount = Math.max(this.leastCount, itemCount)
  }

  /** All items, read while nobody writes. Answers the writes that are there. */
  check(texts: readonly string[]): Write[] {
    if (texts.length < this.leastCount)
      this.#findings.add(
        'other',
        `the walk finds ${texts.length} items, and ${this.leastCount} were acknowledged or read`,
      )
    this.#learn(0, texts, 'the walk')
    const placeOf = this.#places(texts)
    return this.#batches.filter((batch) => this.#isThere(batch, placeOf)).map(({ write }) => write)
  }

  #learn(position: number, texts: readonly string[], source: string): void {
    for (const [index, text] of texts.entries()) {
      const known = this.#known[position + index]
      if (known !== undefined && known !== text) {
        this.#findings.add('other', `${source} has ${text} at position ${position + index}, and before it was ${known}`)
        return
      }
      this.#known[position + index] = text
    }
  }

  #places(texts: readonly string[]): Map<string, number> {
    const placeOf = new Map<string, number>()
    for (const [place, text] of texts.entries()) {
      if (placeOf.has(text)) this.#findings.add('doubled', text)
      placeOf.set(text, place)
      const fate = this.#batchOf.get(text)?.write.fate
      if (fate === undefined || fate === 'refused')
        this.#findings.add('foreign', `${text} was ${fate ?? 'sent by nobody'}`)
    }
    return placeOf
  }

  #isThere({ write, texts }: Batch, placeOf: ReadonlyMap<string, number>): boolean {
    const first = placeOf.get(texts[0] ?? '')
    if (texts.every((text, index) => first !== undefined && placeOf.get(text) === first + index)) return true
    if (texts.some((text) => placeOf.has(text)))
      this.#findings.add('partial', `${write.id}, ${write.fate}, is not there as one piece`)
    else if (write.fate === 'acknowledged') this.#findings.add('lost', `${write.id}, ${texts.length} items`)
    return false
  }
}
