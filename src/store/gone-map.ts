/** The 500-bit map of the positions of a ream that are gone; null while none is. */

import { REAM_SIZE } from './rank.ts'

export type GoneMap = Uint8Array | null

const MAP_BYTES = Math.ceil(REAM_SIZE / 8)

export function isGone(map: GoneMap, slot: number): boolean {
  return map !== null && ((map[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
}

/** A copy of the map with these slots marked as gone. */
export function withGone(map: GoneMap, slots: Iterable<number>): GoneMap {
  let copy = map
  for (const slot of slots) {
    if (copy === map) copy = map === null ? new Uint8Array(MAP_BYTES) : Uint8Array.from(map)
    if (copy !== null) copy[slot >> 3] = (copy[slot >> 3] ?? 0) | (1 << (slot & 7))
  }
  return copy
}

export function countGone(map: GoneMap): number {
  let count = 0
  for (let slot = 0; slot < REAM_SIZE; slot++) if (isGone(map, slot)) count++
  return count
}

/** The slots that still hold an item, in order: the i-th item of the ream stands in the i-th of them. */
export function liveSlots(map: GoneMap): number[] {
  const slots: number[] = []
  for (let slot = 0; slot < REAM_SIZE; slot++) if (!isGone(map, slot)) slots.push(slot)
  return slots
}

/** The place of a slot's item among the items of its ream. */
export function indexOfSlot(map: GoneMap, slot: number): number {
  let index = slot
  for (let before = 0; before < slot; before++) if (isGone(map, before)) index--
  return index
}
