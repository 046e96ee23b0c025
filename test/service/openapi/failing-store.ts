/** A real store, some of whose methods fail in a way that the machine under it could make them fail. */

import type { Store } from '../../../src/store/store.ts'

export function failingStore(store: Store, isFailing: (method: string) => boolean, fault: Error): Store {
  return new Proxy(store, {
    get(target, name) {
      if (isFailing(String(name))) return () => Promise.reject(fault)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
