/** What is known of a collection whose items are appended, put and deleted by their keys. Each key has one client that writes it. */

import type { Random } from '../../bench/random.ts'
import type { Findings } from './findings.ts'
import type { Write } from './write.ts'

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
