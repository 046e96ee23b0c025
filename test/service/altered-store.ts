/** Creates, replaces and mirrors collections, and replaces methods of a store. */

import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { fill } from './open-service.ts'

/** The same store, in which `instead` may replace a method, or note its name. */
export function interposed(store: Store, instead: (name: string) => unknown): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = instead(String(name)) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Creates a collection that may be there from another test. */
export async function fillAnew(
  store: Store,
  name: string,
  items: readonly string[],
  settings: Partial<CollectionSettings> = {},
): Promise<void> {
  if ((await store.head(name)) !== undefined) await store.drop(name)
  await fill(store, name, items, settings)
}

/** Replaces all items of a collection. */
export async function replaceAll(store: Store, name: string, items: readonly string[]): Promise<void> {
  const load = await store.load(name, { isReplacement: true })
  await load.append(keyed(items))
  await load.commit()
}

/** Makes a collection a mirror of this URL, and adds these items. */
export async function mirror(store: Store, name: string, url: string, items: readonly string[]): Promise<void> {
  const load = await store.load(name, { isMirroring: true })
  await load.append(keyed(items))
  await load.commit({ url, position: 'x' })
}
