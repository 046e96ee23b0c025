/** What is known of a collection to which items are only ever appended. */

import type { Random } from '../../bench/random.ts'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import type { Findings } from './report.ts'

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

/** What a key holds after a write: an item, or null. */
interface State {
  readonly write: Write
  readonly text: string | null
  /** Grows with every item that its client adds: in this order they stand in the collection. */
  readonly place: number
}

export class KeyedLog {
  readonly #findings: Findings
  readonly #states = new Map<string, State[]>()
  readonly #keys: string[] = []
  readonly #keysOf = new Map<Write, string[]>()
  #lastPlace = 0

  constructor(findings: Findings) {
    this.#findings = findings
  }

  begin(write: Write, items: ReadonlyMap<string, string | null>): void {
    this.#keysOf.set(write, [...items.keys()])
    for (const [key, text] of items) {
      if (!this.#states.has(key)) this.#keys.push(key)
      const states = this.#states.get(key) ?? []
      const before = states.findLast(({ write: { fate } }) => fate !== 'refused')
      const place = before === undefined || before.text === null ? ++this.#lastPlace : before.place
      states.push({ write, text, place })
      this.#states.set(key, states)
    }
  }

  /** One item as it was answered, null for a 404, to a read that began and ended at these moments. */
  readItem(key: string, text: string | null, beganAt: number, endedAt: number): void {
    if (this.#possible(key, beganAt, endedAt).some((state) => state.text === text)) return
    this.#findings.add('other', `a read of ${key} shows ${text ?? 'nothing'}, which is not what it held then`)
  }

  /** All items, read while nobody writes. Answers the writes whose items, or whose absence, it shows. */
  check(texts: readonly string[], now: number): Write[] {
    const shown = this.#byKey(texts)
    const counts = new Map<Write, number>()
    for (const key of this.#states.keys()) {
      const text = shown.get(key) ?? null
      const state = this.#possible(key, now, now).find((each) => each.text === text)
      if (state === undefined) this.#explain(key, text)
      else if (state.write !== undefined) counts.set(state.write, (counts.get(state.write) ?? 0) + 1)
    }
    for (const [write, count] of counts)
      if (write.fate === 'unknown' && count < (this.#keysOf.get(write)?.length ?? 0))
        this.#findings.add('partial', `${write.id}: ${count} of its items`)
    this.#checkOrder(shown)
    return [...counts.keys()]
  }

  /** The keys of a client that hold an item, when nothing of it is unknown or under way. */
  keysOf(client: string): string[] {
    const isThere = (states: readonly State[]) =>
      (states.findLast(({ write }) => write.fate === 'acknowledged')?.text ?? null) !== null
    const keys = [...this.#states].filter(([key, states]) => key.startsWith(`${client}-`) && isThere(states))
    return keys.map(([key]) => key)
  }

  /** Any key that was ever written. */
  anyKey(random: Random): string | undefined {
    return this.#keys[random(this.#keys.length)]
  }

  /** Every state that a read between these moments may show, the latest first. */
  #possible(key: string, beganAt: number, endedAt: number): { write?: Write; text: string | null }[] {
    const possible: State[] = []
    for (const state of (this.#states.get(key) ?? []).toReversed()) {
      const { fate, sentAt, answeredAt } = state.write
      if (fate === 'refused' || sentAt > endedAt) continue
      possible.push(state)
      if (fate === 'acknowledged' && answeredAt <= beganAt) return possible
    }
    return [...possible, { text: null }]
  }

  #explain(key: string, text: string | null): void {
    const states = this.#states.get(key) ?? []
    const expected = states.findLast(({ write }) => write.fate === 'acknowledged')
    const isSent = text === null || states.some((state) => state.text === text && state.write.fate !== 'refused')
    if (isSent) this.#findings.add('lost', `${key} shows ${text ?? 'nothing'} after ${expected?.write.id}`)
    else this.#findings.add('foreign', `${key} shows ${text}, which was sent by nobody, or refused`)
  }

  #byKey(texts: readonly string[]): Map<string, string> {
    const shown = new Map<string, string>()
    for (const text of texts) {
      const key = String(JSON.parse(text).id)
      if (shown.has(key)) this.#findings.add('doubled', key)
      if (!this.#states.has(key)) this.#findings.add('foreign', `${text} was sent by nobody`)
      shown.set(key, text)
    }
    return shown
  }

  /** Items of one client stand in the order in which it added them; a replaced one keeps its place. */
  #checkOrder(shown: ReadonlyMap<string, string>): void {
    const lastPlaces = new Map<string, number>()
    for (const [key, text] of shown) {
      const [client = ''] = key.split('-')
      const place = this.#states.get(key)?.findLast((state) => state.text === text)?.place
      if (place === undefined) continue
      if (place < (lastPlaces.get(client) ?? 0)) this.#findings.add('other', `${key} is not in its place`)
      lastPlaces.set(client, place)
    }
  }
}

export interface WriteRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** It is sent without an idempotency key, and hence once only. Default false. */
  readonly isKeyless?: boolean
}

/**
 * 'unknown': the connection died, or the server could not tell. It may be there or not, but not in part.
 * 'refused': the server said that nothing was written.
 */
export type Fate = 'under way' | 'acknowledged' | 'unknown' | 'refused'

export class Write {
  /** Also its idempotency key, if it has one. */
  readonly id: string
  readonly request: WriteRequest
  /** Moments of the history's own clock. */
  readonly sentAt: number
  answeredAt = Number.POSITIVE_INFINITY
  fate: Fate = 'under way'
  /** Nobody knew what became of it when it was sent before. */
  mayBeDone = false

  constructor(id: string, request: WriteRequest, sentAt: number) {
    this.id = id
    this.request = request
    this.sentAt = sentAt
  }
}
