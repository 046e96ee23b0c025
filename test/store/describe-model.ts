/** A store beside a plain array: whatever is done to both, every page stays the same. */

import { it } from 'node:test'
import fc from 'fast-check'
import { compactCollection } from '../../src/cli/commands/compact.ts'
import { changed, item, keyed } from './items.ts'
import { KEYED, type Subject } from './subject.ts'

const { signal } = new AbortController()

/** `from` and `picks` stand for any of the items that are there. */
type Change =
  | { kind: 'append' | 'load' | 'replace-all'; count: number }
  | { kind: 'delete' | 'replace'; picks: number[] }
  | { kind: 'delete-range'; from: number; count: number }
  | { kind: 'compact' }
  /** A write of one item that is sent a few times over, at once. */
  | { kind: 'append-one' | 'put-new' | 'put' | 'remove'; from: number; times: number }

const count = fc.oneof(fc.constantFrom(1, 2, 499, 500, 501, 999, 1000, 1001), fc.integer({ min: 1, max: 700 }))
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 40 })
const times = fc.integer({ min: 1, max: 3 })
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('append', 'load'), count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace-all' as const), count }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'replace'), picks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-range' as const), from: fc.nat(), count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constantFrom('append-one', 'put-new', 'put', 'remove'), from: fc.nat(), times }),
  },
)

export function describeModel({ store, newName, newOnce, check }: Subject): void {
  /** A collection as the contract sees it, ids and texts in order, with a store that is changed alike. */
  class Model {
    readonly name = newName()
    items: { id: number; text: string }[] = []
    #lastId = 0

    async check(): Promise<void> {
      await check(this.name, this.#texts(this.items))
    }

    async apply(change: Change): Promise<void> {
      switch (change.kind) {
        case 'append':
        case 'load':
        case 'replace-all':
          return this.#add(change.kind, change.count)
        case 'delete-range':
          return this.#delete(this.items.slice(this.#index(change.from)).slice(0, change.count))
        case 'delete':
          return this.#delete(this.#picked(change.picks))
        case 'replace': {
          const picked = this.#picked(change.picks)
          for (const each of picked) each.text = changed(each.id, ++this.#lastId)
          if (picked.length > 0) await store.replace(this.name, keyed(this.#texts(picked)))
          return
        }
        case 'compact':
          return void (await compactCollection(store, this.name, { signal }))
        default:
          return this.#writeOne(change.kind, this.items[this.#index(change.from)], change.times)
      }
    }

    async #add(kind: 'append' | 'load' | 'replace-all', count: number): Promise<void> {
      const fresh = this.#newItems(count)
      if (kind === 'append') await store.append(this.name, keyed(this.#texts(fresh)))
      else {
        const load = await store.load(this.name, { isReplacement: kind === 'replace-all' })
        for (let start = 0; start < count; start += 333)
          await load.append(keyed(this.#texts(fresh.slice(start, start + 333))))
        await load.commit()
      }
      if (kind === 'replace-all') this.items = []
      this.items = this.items.concat(fresh)
    }

    async #delete(removed: Model['items']): Promise<void> {
      if (removed.length === 0) return
      const ids = new Set(removed.map(({ id }) => id))
      await store.delete(this.name, [...ids].map(String))
      this.items = this.items.filter(({ id }) => !ids.has(id))
    }

    async #writeOne(kind: Change['kind'], there: Model['items'][number] | undefined, times: number): Promise<void> {
      const { name } = this
      const options = { once: newOnce() }
      const again = (send: () => Promise<unknown>) => Promise.all(Array.from({ length: times }, send))
      if (kind === 'append-one' || kind === 'put-new') {
        const fresh = this.#newItems(1)
        const run = keyed(this.#texts(fresh))
        await again(() => (kind === 'put-new' ? store.put(name, run, {}, options) : store.append(name, run, options)))
        this.items.push(...fresh)
      } else if (there !== undefined && kind === 'put') {
        there.text = changed(there.id, ++this.#lastId)
        await again(() => store.put(name, keyed([there.text]), {}, options))
      } else if (there !== undefined) {
        await again(() => store.remove(name, String(there.id), {}, options))
        this.items = this.items.filter((each) => each !== there)
      }
    }

    #newItems(count: number): Model['items'] {
      return Array.from({ length: count }, () => ({ id: ++this.#lastId, text: item(this.#lastId) }))
    }

    #index(pick: number): number {
      return pick % Math.max(1, this.items.length)
    }

    #picked(picks: readonly number[]): Model['items'] {
      return [...new Set(picks.map((pick) => this.#index(pick)))].flatMap((index) => this.items[index] ?? [])
    }

    #texts(items: Model['items']): string[] {
      return items.map(({ text }) => text)
    }
  }

  it('agrees with a plain array over any sequence of changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 25 }), async (changes) => {
        const model = new Model()
        await store.create(model.name, KEYED)
        for (const each of changes) await model.apply(each)
        await model.check()
      }),
      { numRuns: 30 },
    )
  })

  it('agrees with a plain array beyond 256 reams, with holes at random and in long stretches', async () => {
    const model = new Model()
    await store.create(model.name, KEYED)
    await model.apply({ kind: 'load', count: 257 * 500 + 123 })
    let seed = 7
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed
    }
    await model.apply({ kind: 'delete', picks: Array.from({ length: 1300 }, random) })
    await model.check()
    await model.apply({ kind: 'delete-range', from: 40_000, count: 5_000 })
    await model.apply({ kind: 'delete-range', from: 110_000, count: 12_000 })
    await model.apply({ kind: 'append', count: 700 })
    await model.check()
  })
}
