/** What a client writes next: each id only once, and only under keys of its own. */

import type { Random } from '../../bench/random.ts'
import type { Write, WriteRequest } from './collection-log.ts'
import { type History, LOG, THINGS } from './history.ts'

const MOST_CHANGES = 30

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
    this.#keys = isKeyless ? [] : history.things.idsOf(client)
  }

  /** `whenDone` is to be called if it is acknowledged, before the next one. */
  begin(): { write: Write; whenDone: () => void } {
    const id = `${this.#client}-${this.#history.tick()}`
    const choice = this.#random(100)
    if (choice < 40) return this.#append(id, LOG, this.#random(10) === 0 ? 300 : 20)
    if (choice < 60 || this.#keys.length === 0 || this.#isKeyless) return this.#append(id, THINGS, 20)
    if (choice < 75) return this.#put(id)
    return choice < 85 ? this.#delete(id) : this.#patch(id)
  }

  #append(id: string, name: string, most: number) {
    const keys = Array.from({ length: 1 + this.#random(most) }, (_, index) => `${id}-${index}`)
    const items = new Map(keys.map((key) => [key, this.#item(key, id)]))
    const body = bodyOf([...items.values()], this.#random)
    const request: WriteRequest = { method: 'POST', path: `/${name}`, ...body, isKeyless: this.#isKeyless }
    const whenDone = () => void (name === THINGS && this.#keys.push(...keys))
    return { write: this.#history.begin(id, request, items), whenDone }
  }

  #put(id: string) {
    const isNew = this.#random(4) === 0
    const key = (isNew ? this.#deletedKeys.pop() : this.#keys[this.#random(this.#keys.length)]) ?? id
    const text = this.#item(key, id)
    const request = { method: 'PUT', path: `/${THINGS}/${key}`, type: 'application/json', body: text } as const
    const whenDone = () => void (isNew && this.#keys.push(key))
    return { write: this.#history.begin(id, request, new Map([[key, text]])), whenDone }
  }

  #delete(id: string) {
    const at = this.#random(this.#keys.length)
    const key = this.#keys[at] ?? ''
    const request = { method: 'DELETE', path: `/${THINGS}/${key}` } as const
    const whenDone = () => void this.#deletedKeys.push(...this.#keys.splice(at, 1))
    return { write: this.#history.begin(id, request, new Map([[key, null]])), whenDone }
  }

  /** Some items that are there are replaced, some deleted, and others added, in any order. */
  #patch(id: string) {
    const items = new Map<string, string | null>()
    const [added, deleted] = [new Set<string>(), new Set<string>()]
    const count = 1 + this.#random(MOST_CHANGES)
    for (let index = 0; index < count; index++) {
      const known = this.#keys[this.#random(this.#keys.length)] ?? id
      const key = this.#random(4) === 0 ? `${id}-${index}` : known
      if (items.has(key)) continue
      const isDelete = key === known && this.#random(3) === 0
      if (key !== known) added.add(key)
      if (isDelete) deleted.add(key)
      items.set(key, isDelete ? null : this.#item(key, id))
    }
    const lines = [...items].map(([key, text]) =>
      text === null ? `{"op":"delete","key":"${key}"}` : `{"op":"put","item":${text}}`,
    )
    const body = { type: 'application/x-ndjson', body: lines.join('\n') }
    const whenDone = () => {
      const kept = this.#keys.filter((key) => !deleted.has(key))
      this.#keys.splice(0, Infinity, ...kept, ...added)
      this.#deletedKeys.push(...deleted)
    }
    const request = { method: 'PATCH', path: `/${THINGS}`, ...body } as const
    return { write: this.#history.begin(id, request, items), whenDone }
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
