/** What is known of one collection, whose items all have an `id` of their own: what was sent, and what answers have shown. */

import type { Random } from '../../bench/random.ts'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import type { Findings } from './report.ts'

export interface WriteRequest {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly type?: string
  readonly body?: string
  /** It is sent without an idempotency key, and hence once only. Default false. */
  readonly isKeyless?: boolean
}

/** What ids hold after a write: an item, or null. */
export type Items = ReadonlyMap<string, string | null>

export interface Write {
  /** Also its idempotency key, if it has one. */
  readonly id: string
  readonly request: WriteRequest
  readonly items: Items
  /** Moments of the history's own clock. */
  readonly sentAt: number
  answeredAt: number
  /**
   * 'unknown': the connection died, or the server could not tell. It may be there or not, but not in part.
   * 'refused': the server said that nothing was written.
   */
  fate: 'under way' | 'acknowledged' | 'unknown' | 'refused'
  /** Nobody knew what became of it when it was sent before. */
  mayBeDone: boolean
}

interface State {
  readonly write: Write
  readonly text: string | null
  /** Grows with every item that its client adds: in this order they stand in the collection. */
  readonly place: number
}

export class CollectionLog {
  readonly #findings: Findings
  readonly #states = new Map<string, State[]>()
  readonly #ids: string[] = []
  #lastPlace = 0
  /**
   * Where items are only ever appended: what an answer has shown or promised at each position. It can never be anything
   * else, since all reads are prefixes of one another.
   */
  readonly #known: string[] = []
  /** As many items at least has every read that begins now, where items are only ever appended. */
  leastCount = 0

  constructor(findings: Findings) {
    this.#findings = findings
  }

  begin(write: Write): void {
    for (const [id, text] of write.items) {
      if (!this.#states.has(id)) this.#ids.push(id)
      const states = this.#states.get(id) ?? []
      const before = states.findLast(({ write: { fate } }) => fate !== 'refused')
      const place = before === undefined || before.text === null ? ++this.#lastPlace : before.place
      states.push({ write, text, place })
      this.#states.set(id, states)
    }
  }

  /** The answer to an append says where the items are. */
  acknowledgeAppend({ id, items }: Write, itemCount: number): void {
    this.#learn(itemCount - items.size, [...items.values()], itemCount, `the answer to ${id}`)
  }

  /** One page as it was answered; `leastCount` is that of the moment when the read began. */
  readPage(page: number, itemCount: number, texts: readonly string[], leastCount: number): void {
    if (itemCount < leastCount)
      this.#findings.add('other', `a read shows ${itemCount} items after ${leastCount} were acknowledged or read`)
    this.#learn((page - 1) * PAGE_SIZE, texts, itemCount, `page ${page} of ${itemCount} items`)
  }

  /** One item as it was answered, null for a 404, to a read that began and ended at these moments. */
  readItem(id: string, text: string | null, beganAt: number, endedAt: number): void {
    if (this.#possible(id, beganAt, endedAt).some((state) => state.text === text)) return
    this.#findings.add('other', `a read of ${id} shows ${text ?? 'nothing'}, which is not what it held then`)
  }

  /** All items of a collection that is only ever appended to, read while nobody writes. */
  checkAppended(texts: readonly string[], now: number): Set<Write> {
    if (texts.length < this.leastCount)
      this.#findings.add('other', `a walk finds ${texts.length} items of at least ${this.leastCount}`)
    this.#learn(0, texts, texts.length, 'the walk')
    const there = this.check(texts, now)
    const placeOf = new Map(texts.map((text, place) => [text, place]))
    for (const { id, items } of there) {
      const places = [...items.values()].flatMap((text) => placeOf.get(text ?? '') ?? [])
      if (places.some((place, index) => place !== (places[0] ?? 0) + index))
        this.#findings.add('partial', `${id} is not there as one piece`)
    }
    return there
  }

  /** All items, read while nobody writes. Answers the writes whose items, or whose absence, it shows. */
  check(texts: readonly string[], now: number): Set<Write> {
    const shown = this.#byId(texts)
    const counts = new Map<Write, number>()
    const missing = new Map<Write, string>()
    for (const [id, states] of this.#states) {
      const text = shown.get(id) ?? null
      const state = this.#possible(id, now, now).find((each) => each.text === text)
      const expected = states.findLast(({ write }) => write.fate === 'acknowledged')
      if (state?.write !== undefined) counts.set(state.write, (counts.get(state.write) ?? 0) + 1)
      else if (state === undefined && expected !== undefined && this.#isSent(id, text))
        missing.set(expected.write, `${id} shows ${text ?? 'nothing'} after ${expected.write.id}`)
      else if (state === undefined) this.#findings.add('foreign', `${id} shows ${text}, sent by nobody or refused`)
    }
    for (const [write, message] of missing) this.#findings.add(counts.has(write) ? 'partial' : 'lost', message)
    for (const [{ id, fate, items }, count] of counts)
      if (fate === 'unknown' && count < items.size) this.#findings.add('partial', `${id}: ${count} of its items`)
    this.#checkOrder(shown)
    return new Set(counts.keys())
  }

  /** The ids of a client that hold an item, when nothing of it is unknown or under way. */
  idsOf(client: string): string[] {
    const isThere = (states: readonly State[] = []) =>
      (states.findLast(({ write }) => write.fate === 'acknowledged')?.text ?? null) !== null
    return this.#ids.filter((id) => id.startsWith(`${client}-`) && isThere(this.#states.get(id)))
  }

  /** Any id that was ever written. */
  anyId(random: Random): string | undefined {
    return this.#ids[random(this.#ids.length)]
  }

  #learn(position: number, texts: readonly (string | null)[], itemCount: number, source: string): void {
    this.leastCount = Math.max(this.leastCount, itemCount)
    for (const [index, text] of texts.entries()) {
      const known = this.#known[position + index]
      if (known !== undefined && known !== text) {
        this.#findings.add('other', `${source} has ${text} at position ${position + index}, and before it was ${known}`)
        return
      }
      this.#known[position + index] = text ?? ''
    }
  }

  /** Every state that a read between these moments may show, the latest first. */
  #possible(id: string, beganAt: number, endedAt: number): { write?: Write; text: string | null }[] {
    const possible: State[] = []
    for (const state of (this.#states.get(id) ?? []).toReversed()) {
      const { fate, sentAt, answeredAt } = state.write
      if (fate === 'refused' || sentAt > endedAt) continue
      possible.push(state)
      if (fate === 'acknowledged' && answeredAt <= beganAt) return possible
    }
    return [...possible, { text: null }]
  }

  #isSent(id: string, text: string | null): boolean {
    const states = this.#states.get(id) ?? []
    return text === null || states.some((state) => state.text === text && state.write.fate !== 'refused')
  }

  #byId(texts: readonly string[]): Map<string, string> {
    const shown = new Map<string, string>()
    for (const text of texts) {
      const id = String(JSON.parse(text).id)
      if (shown.has(id)) this.#findings.add('doubled', id)
      if (!this.#states.has(id)) this.#findings.add('foreign', `${text} was sent by nobody`)
      shown.set(id, text)
    }
    return shown
  }

  /** Items of one client stand in the order in which it added them; a replaced one keeps its place. */
  #checkOrder(shown: ReadonlyMap<string, string>): void {
    const lastPlaces = new Map<string, number>()
    for (const [id, text] of shown) {
      const [client = ''] = id.split('-')
      const place = this.#states.get(id)?.findLast((state) => state.text === text)?.place
      if (place === undefined) continue
      if (place < (lastPlaces.get(client) ?? 0)) this.#findings.add('other', `${id} is not in its place`)
      lastPlaces.set(client, place)
    }
  }
}
