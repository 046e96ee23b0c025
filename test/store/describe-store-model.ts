/** A store beside a plain array: whatever is done to both, every page stays the same. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from './describe-store.ts'
import { pagesOf, readAllPages, readItems } from './store-reading.ts'

/** The collection as the contract sees it: items in order, each with its key. */
interface Model {
  items: { key: string; text: string }[]
  lastKey: number
}

type Change =
  | { kind: 'append' | 'load' | 'replace-all'; count: number }
  | { kind: 'delete' | 'replace'; picks: number[] }
  | { kind: 'delete-range'; from: number; count: number }

const count = fc.oneof(fc.constantFrom(1, 2, 499, 500, 501, 999, 1000, 1001), fc.integer({ min: 1, max: 700 }))
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 40 })
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('append', 'load'), count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace-all' as const), count }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'replace'), picks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-range' as const), from: fc.nat(), count }) },
)

export function describeStoreModel(opened: () => StoreUnderTest): void {
  let names = 0

  it('agrees with a plain array over any sequence of changes', async () => {
    const { store } = opened()
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const name = `model-${++names}`
        await store.create(name, { keyField: 'k' })
        const model: Model = { items: [], lastKey: 0 }
        for (const each of changes) await apply(store, name, model, each)
        await compare(store, name, model)
        await store.drop(name)
      }),
      { numRuns: 40 },
    )
    assert.deepEqual((await store.verify()).findings, [])
  })

  it('agrees with a plain array beyond 256 reams, with holes at random and in long stretches', async () => {
    const { store } = opened()
    const name = 'model-large'
    const model: Model = { items: [], lastKey: 0 }
    await store.create(name, { keyField: 'k' })
    await apply(store, name, model, { kind: 'load', count: 257 * 500 + 123 })
    await compare(store, name, model)
    let seed = 7
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed
    }
    await apply(store, name, model, { kind: 'delete', picks: Array.from({ length: 1300 }, random) })
    await compare(store, name, model)
    await apply(store, name, model, { kind: 'delete-range', from: 40_000, count: 5_000 })
    await apply(store, name, model, { kind: 'delete-range', from: 110_000, count: 12_000 })
    await apply(store, name, model, { kind: 'append', count: 700 })
    await compare(store, name, model)
    assert.deepEqual((await store.verify()).findings, [])
    await store.drop(name)
  })
}

async function apply(store: Store, name: string, model: Model, change: Change): Promise<void> {
  switch (change.kind) {
    case 'append': {
      const fresh = newItems(model, change.count)
      await store.append(name, runOf(fresh))
      model.items.push(...fresh)
      return
    }
    case 'load':
    case 'replace-all': {
      const fresh = newItems(model, change.count)
      const load = await store.load(name, { isReplacement: change.kind === 'replace-all' })
      for (let start = 0; start < fresh.length; start += 333) await load.append(runOf(fresh.slice(start, start + 333)))
      await load.commit()
      model.items = change.kind === 'replace-all' ? fresh : [...model.items, ...fresh]
      return
    }
    case 'delete': {
      const keys = pickedKeys(model, change.picks)
      if (keys.size === 0) return
      await store.delete(name, [...keys])
      model.items = model.items.filter(({ key }) => !keys.has(key))
      return
    }
    case 'delete-range': {
      const start = model.items.length === 0 ? 0 : change.from % model.items.length
      const removed = model.items.splice(start, change.count)
      if (removed.length > 0)
        await store.delete(
          name,
          removed.map(({ key }) => key),
        )
      return
    }
    case 'replace': {
      const keys = pickedKeys(model, change.picks)
      if (keys.size === 0) return
      const changed = model.items.filter(({ key }) => keys.has(key))
      for (const each of changed) each.text = textOf(each.key, ++model.lastKey)
      await store.replace(name, runOf(changed))
    }
  }
}

async function compare(store: Store, name: string, model: Model): Promise<void> {
  const texts = model.items.map(({ text }) => text)
  assert.equal((await store.head(name))?.live, texts.length)
  assert.deepEqual(await readAllPages(store, name), pagesOf(texts))
  assert.deepEqual(await readItems(store, name), texts)
}

function newItems(model: Model, count: number): Model['items'] {
  return Array.from({ length: count }, () => {
    const key = String(++model.lastKey)
    return { key, text: textOf(key, 0) }
  })
}

const textOf = (key: string, revision: number): string => `{"k":${key},"r":${revision}}`
const runOf = (items: Model['items']) =>
  itemRun(
    items.map(({ text }) => text),
    { keyField: 'k' },
  )

function pickedKeys(model: Model, picks: readonly number[]): Set<string> {
  const keys = new Set<string>()
  for (const pick of picks) {
    const picked = model.items[pick % Math.max(1, model.items.length)]
    if (picked !== undefined) keys.add(picked.key)
  }
  return keys
}
