/** A ream that is being changed, item by item. Pure. */

import { type GoneMap, indexOfSlot, isGone, liveSlots, REAM_SIZE, withGone } from './positions.ts'
import {
  countItems,
  cutItems,
  damagedReam,
  editItems,
  inflateReam,
  joinItems,
  joinPieces,
  type ReamBytes,
  type SealedReam,
  type TailItem,
} from './ream.ts'

export interface OpenReam {
  readonly raw: Uint8Array
  readonly count: number
  readonly gone: GoneMap
}

/** By slot: a text takes the place of the item there, null removes it. */
type SlotChanges = ReadonlyMap<number, string | null>

/** Inflates a ream. One whose items, count and map of those that are gone do not agree is damaged. */
export function openReam(ream: ReamBytes & { readonly gone: GoneMap }): OpenReam {
  const raw = inflateReam(ream)
  const { count, gone } = ream
  if (countItems(raw) !== count || liveSlots(gone).length !== count) throw damagedReam()
  return { raw, count, gone }
}

export function changeReam({ raw, count, gone }: OpenReam, changes: SlotChanges): OpenReam {
  const slots = [...changes.keys()]
  if (slots.some((slot) => isGone(gone, slot))) throw damagedReam()
  const edits = new Map([...changes].map(([slot, text]) => [indexOfSlot(gone, slot), text]))
  const removed = slots.filter((slot) => changes.get(slot) === null)
  return { raw: editItems(raw, edits), count: count - removed.length, gone: withGone(gone, removed) }
}

/** A ream of the items at positions from `start` up to `end`, of which some may be gone, and of what completes it. */
export function sealItems(
  start: number,
  end: number,
  items: readonly TailItem[],
  completion: Uint8Array = new Uint8Array(0),
): OpenReam {
  const present = new Set(items.map(({ position }) => position))
  const missing: number[] = []
  for (let position = start; position < end; position++) if (!present.has(position)) missing.push(position - start)
  const raw = joinPieces([joinItems(items.map(({ item }) => item)), completion])
  return { raw, count: items.length + start + REAM_SIZE - end, gone: withGone(null, missing) }
}

/** A sealed ream that is being changed. It is looked into as late as possible: a commit may change thousands. */
export class ReamDraft {
  readonly number: number
  /** As it is stored, or a new one. */
  readonly #origin: SealedReam | OpenReam
  readonly #changes: Map<number, string | null>

  constructor(number: number, origin: SealedReam | OpenReam, changes: SlotChanges = new Map()) {
    this.number = number
    this.#origin = origin
    this.#changes = new Map(changes)
  }

  item(slot: number): string {
    const changed = this.#changes.get(slot)
    if (changed === null) throw damagedReam()
    if (changed !== undefined) return changed
    const { raw, gone } = this.#open()
    if (isGone(gone, slot)) throw damagedReam()
    const index = indexOfSlot(gone, slot)
    return Buffer.from(cutItems(raw, index, index + 1)).toString()
  }

  /** Replaces the item in a slot, or removes it. */
  put(slot: number, text: string | null): void {
    this.#changes.set(slot, text)
  }

  content(): OpenReam {
    return this.#changes.size === 0 ? this.#open() : changeReam(this.#open(), this.#changes)
  }

  #open(): OpenReam {
    return 'data' in this.#origin ? openReam(this.#origin) : this.#origin
  }
}
