/** Whether two readings of the same page show items that changed their places, or items that came, went or were edited. */

import { type Fingerprint, keyOf } from './fingerprint.ts'
import type { ItemFacts } from './item-facts.ts'

export type Change = 'reordered' | 'moved' | 'edited'

/** Undefined where the items are the same; 'reordered' where only their order differs, which no write explains. */
export function changeBetween(before: ItemFacts, after: ItemFacts): Change | undefined {
  const [those, these] = [before.contents.map(keyOf), after.contents.map(keyOf)]
  if (those.join() === these.join()) return undefined
  if (those.toSorted().join() === these.toSorted().join()) return 'reordered'
  if (haveMoved(before.contents, after.contents)) return 'moved'
  // Where items were edited, a field that differs in each of them says which is which.
  const telling = [...before.fields].filter(([, values]) => new Set(values.map(keyOf)).size === before.count)
  const isStill = telling.some(([name, values]) => !haveMoved(values, after.fields.get(name) ?? []))
  return telling.length === 0 || isStill ? 'edited' : 'moved'
}

/** Whether those that are in both stand in another order. */
function haveMoved(before: readonly Fingerprint[], after: readonly Fingerprint[]): boolean {
  const [those, these] = [before.map(keyOf), after.map(keyOf)]
  const [inBefore, inAfter] = [new Set(those), new Set(these)]
  return those.filter((key) => inAfter.has(key)).join() !== these.filter((key) => inBefore.has(key)).join()
}
