/** The store that a suite runs on, with what its tests do again and again: make collections, fill and compare them. */

import assert from 'node:assert/strict'
import { itemRun } from '../../src/items/item-run.ts'
import type { CollectionSettings, Head, LoadOptions, LoadResult, Once, Store } from '../../src/store/store.ts'
import { itemsFrom } from './items.ts'
import { pagesOf, readAllPages, readItems } from './store-reading.ts'
import type { StoreUnderTest } from './test-store.ts'

export const KEYED: CollectionSettings = { keyField: 'id', isPaginated: true, isPrivate: false }

export type Subject = ReturnType<typeof newSubject>

/** `opened` is asked when a test runs: suites are described before the store is open. */
export function newSubject(opened: () => StoreUnderTest) {
  let count = 0
  const store = new Proxy({} as Store, {
    get(_, member) {
      const value = Reflect.get(opened().store, member)
      return typeof value === 'function' ? value.bind(opened().store) : value
    },
  })
  const newName = (): string => `collection-${++count}`
  const newOnce = (digest = 'a'): Once => ({ key: `request ${++count}`, digest })
  const headOf = async (name: string): Promise<Head> => (await store.head(name)) ?? assert.fail(`no ${name}`)

  return {
    opened,
    store,
    newName,
    newOnce,
    headOf,
    openAgain: (options?: Parameters<StoreUnderTest['openAgain']>[0]) => opened().openAgain(options),
    /** A new collection, keyed unless the settings say otherwise, with the items 0, 1, 2, … */
    async filled(items: number, settings: Partial<CollectionSettings> = KEYED): Promise<string> {
      const name = newName()
      await store.create(name, settings)
      if (items > 0) await store.append(name, itemRun(itemsFrom(0, items), { keyField: settings.keyField ?? null }))
      return name
    },
    /** The pages, the items and the count are those of the texts. */
    async check(name: string, texts: readonly string[]): Promise<Head> {
      const head = await headOf(name)
      assert.equal(head.live, texts.length)
      if (head.isPaginated) assert.deepEqual(await readAllPages(store, name), pagesOf(texts))
      assert.deepEqual(await readItems(store, name), texts)
      return head
    },
    async load(name: string, texts: readonly string[], options: LoadOptions = {}): Promise<LoadResult> {
      const load = await store.load(name, options)
      const { keyField } = load.settings
      const runs: Promise<unknown>[] = []
      for (let start = 0; start < texts.length; start += 300)
        runs.push(load.append(itemRun(texts.slice(start, start + 300), { keyField })))
      try {
        await Promise.all(runs)
        return await load.commit()
      } catch (error) {
        await load.abort()
        throw error
      }
    },
    async textOf(name: string, key: string | number): Promise<string | undefined> {
      const found = (await store.item(name, String(key)))?.item
      return found && Buffer.from(found.text).toString()
    },
    async tagOf(name: string, key: string | number): Promise<string> {
      return (await store.item(name, String(key)))?.item?.tag ?? assert.fail(`no item ${key}`)
    },
    /** Opens the data again, as another process or after a restart, and closes it at the end. */
    async elsewhere<T>(
      use: (again: Store) => Promise<T>,
      options?: Parameters<StoreUnderTest['openAgain']>[0],
    ): Promise<T> {
      const again = await opened().openAgain(options)
      return use(again).finally(() => again.close())
    },
  }
}
