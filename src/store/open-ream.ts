/** A ream that is inflated, and changes to it by slot. Pure. */

import { type GoneMap, indexOfSlot, isGone, liveSlots, withGone } from './gone-map.ts'
import type { ReamBytes } from './ream.ts'
import { countItems, cutItems, damagedReam, editItems, inflateReam } from './ream.ts'

export interface OpenReam {
  readonly raw: Uint8Array
  readonly count: number
  readonly gone: GoneMap
}

/** By slot: a text takes the place of the item there, null removes it. */
export type SlotChanges = ReadonlyMap<number, string | null>

/** Inflates a ream. One whose items, count and map of those that are gone do not agree is damaged. */
export function openReam(ream: ReamBytes & { readonly gone: GoneMap }): OpenReam {
  const raw = inflateReam(ream)
  const { count, gone } = ream
  if (countItems(raw) !== count || liveSlots(gone).length !== count) throw damagedReam()
  return { raw, count, gone }
}

/** The text of the item in a slot that a key leads to. */
export function itemInSlot({ raw, gone }: OpenReam, slot: number): Uint8Array {
  if (isGone(gone, slot)) throw damagedReam()
  const index = indexOfSlot(gone, slot)
  return cutItems(raw, index, index + 1)
}

export function changeReam({ raw, count, gone }: OpenReam, changes: SlotChanges): OpenReam {
  const slots = [...changes.keys()]
  if (slots.some((slot) => isGone(gone, slot))) throw damagedReam()
  const edits = new Map([...changes].map(([slot, text]) => [indexOfSlot(gone, slot), text]))
  const removed = slots.filter((slot) => changes.get(slot) === null)
  return { raw: editItems(raw, edits), count: count - removed.length, gone: withGone(gone, removed) }
}
