/** Whether two readings of the same page show items that changed their places, or items that were edited where they are. */

import { keyOf } from './fingerprint.ts'
import type { ItemFacts } from './item-facts.ts'

/** Undefined where the contents are the same. */
export function changeBetween(before: ItemFacts, after: ItemFacts): 'moved' | 'edited' | undefined {
  const [those, these] = [before.contents.map(keyOf), after.contents.map(keyOf)]
  if (those.join() === these.join()) return undefined
  if (those.toSorted().join() === these.toSorted().join()) return 'moved'
  // A field that differs in every item says which is which.
  const telling = [...before.fields].filter(([, values]) => new Set(values.map(keyOf)).size === before.count)
  const hasStayed = telling.some(([name, values]) => {
    const later = after.fields.get(name)
    return later !== undefined && later.map(keyOf).join() === values.map(keyOf).join()
  })
  return telling.length === 0 || hasStayed ? 'edited' : 'moved'
}
