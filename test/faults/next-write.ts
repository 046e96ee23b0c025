/** What a client writes next: each id only once, and only under keys of its own. */

import type { Random } from '../../bench/random.ts'
import type { Write, WriteRequest } from './collection-logs.ts'
import { type History, LOG, THINGS } from './history.ts'

export class NextWrite {
  readonly #client: string
  readonly #history: History
  readonly #random: Random
  readonly #keys: string[]
  readonly #deletedKeys: string[] = []
  readonly #isKeyless: boolean

  /** Without idempotency keys it only ever adds what is new: then it can go on when the fate of a write is unknown. */
  constructor(client: string, history: History, random: Random, isKeyless = false) {
    this.#client = client
    this.#history = history
    this.#random = random
    this.#isKeyless = isKeyless
    this.#keys = isKeyless ? [] : history.things.keysOf(client)
  }

  /** `whenDone` is to be called if it is acknowledged, before the next one. */
  begin(): { write: Write; whenDone: () => void } {
    const choice = this.#random(100)
    if (choice < 40) return this.#appendToLog()
    if (choice < 60 || this.#keys.length === 0 || this.#isKeyless) return this.#appendThings()
    return choice < 85 ? this.#put() : this.#delete()
  }

  #appendToLog() {
    const id = this.#newId()
    const texts = this.#items(id, 1 + this.#random(this.#random(10) === 0 ? 300 : 20))
    const request = this.#post(LOG, texts)
    return { write: this.#history.beginAppend(id, request, texts), whenDone: () => {} }
  }

  #appendThings() {
    const id = this.#newId()
    const texts = this.#items(id, 1 + this.#random(20))
    const items = new Map(texts.map((text, index) => [`${id}-${index}`, text]))
    const request = this.#post(THINGS, texts)
    const whenDone = () => void this.#keys.push(...items.keys())
    return { write: this.#history.beginChange(id, request, items), whenDone }
  }

  #put() {
    const id = this.#newId()
    const isNew = this.#random(4) === 0
    const key = (isNew ? this.#deletedKeys.pop() : this.#keys[this.#random(this.#keys.length)]) ?? id
    const text = this.#item(key, id)
    const request = { method: 'PUT', path: `/${THINGS}/${key}`, type: 'application/json', body: text } as const
    const whenDone = () => void (isNew && this.#keys.push(key))
    return { write: this.#history.beginChange(id, request, new Map([[key, text]])), whenDone }
  }

  #delete() {
    const id = this.#newId()
    const at = this.#random(this.#keys.length)
    const key = this.#keys[at] ?? ''
    const request = { method: 'DELETE', path: `/${THINGS}/${key}` } as const
    const whenDone = () => void this.#deletedKeys.push(...this.#keys.splice(at, 1))
    return { write: this.#history.beginChange(id, request, new Map([[key, null]])), whenDone }
  }

  #post(name: string, texts: readonly string[]): WriteRequest {
    return { method: 'POST', path: `/${name}`, ...bodyOf(texts, this.#random), isKeyless: this.#isKeyless }
  }

  #newId(): string {
    return `${this.#client}-${this.#history.tick()}`
  }

  #items(id: string, count: number): string[] {
    return Array.from({ length: count }, (_, index) => this.#item(`${id}-${index}`, id))
  }

  #item(key: string, write: string): string {
    return JSON.stringify({ id: key, write, filling: 'x'.repeat(this.#random(200)) })
  }
}

/** Each of the three forms that an append can have. */
function bodyOf(texts: readonly string[], random: Random): { type: string; body: string } {
  if (random(2) === 0) return { type: 'application/x-ndjson', body: texts.join('\n') }
  return { type: 'application/json', body: texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]` }
}
