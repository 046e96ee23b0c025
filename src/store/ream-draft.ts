/** A ream that is being changed, quire by quire: only those that differ are deflated anew. Pure. */

import { freeOwnMemory } from '../items/item-run.ts'
import { countItems, cutItems, editItems, joinItems, joinPieces, NO_ITEMS, type RawItems } from './item-text.ts'
import { type GoneMap, liveSlots, QUIRE_SIZE, REAM_SIZE, withGone } from './positions.ts'
import {
  damagedReam,
  joinQuires,
  makeQuires,
  placeOf,
  type Quire,
  quiresOf,
  readInflated,
  type SealedReam,
  type TailItem,
} from './ream.ts'

/** Items of some slots: a quire, or what is to be one. */
type Items = Quire | (RawItems & { readonly slots: number })

/** What quires are made of: items, and the changes to them by their index. A text takes the place of an item, null removes it. */
export interface QuireEdit {
  /** The number of the quire in its ream. */
  readonly number: number
  readonly items: Items
  readonly changes: ReadonlyMap<number, string | null>
  /** Of its slots, those that hold an item afterwards. */
  readonly live: readonly number[]
}

/** Makes the quires. Items that are not as many as their count says are damaged. */
export function editQuire({ items, changes, live }: QuireEdit): Quire[] {
  return readRaw(items, (raw) => {
    if (changes.size === 0) return makeQuires(raw, items.slots, live, false)
    if (countItems(raw) !== items.count) throw damagedReam()
    return makeQuires(editItems(raw, changes), items.slots, live, true)
  })
}

function readRaw<T>(items: Items, read: (raw: Uint8Array) => T): T {
  return 'raw' in items ? read(items.raw) : readInflated(items, read)
}

/** Changes by position, as changes by slot for each ream. */
export function byReam<T>(changes: ReadonlyMap<number, T>): Map<number, Map<number, T>> {
  const reams = new Map<number, Map<number, T>>()
  for (const [position, change] of changes) {
    const number = Math.floor(position / REAM_SIZE)
    const slots = reams.get(number) ?? new Map<number, T>()
    reams.set(number, slots.set(position % REAM_SIZE, change))
  }
  return reams
}

/** A ream as it is stored, or how to read it. */
type StoredReam = SealedReam | (() => SealedReam)

interface ReamContent {
  readonly quires: Items[]
  gone: GoneMap
  /** In which those quires lie that are stored. */
  readonly data: Uint8Array
}

/** It is read and looked into as late as possible: a commit may change thousands, more than memory holds. */
export class ReamDraft {
  readonly number: number
  readonly #stored: StoredReam | undefined
  /** Once it was looked into. */
  #content: ReamContent | undefined
  /** By slot. */
  readonly #changes = new Map<number, string | null>()
  /** The numbers of the quires that were added. */
  readonly #closed = new Set<number>()

  constructor(number: number, stored?: StoredReam) {
    this.number = number
    this.#stored = stored
  }

  #open(): ReamContent {
    if (this.#content !== undefined) return this.#content
    const stored = typeof this.#stored === 'function' ? this.#stored() : this.#stored
    const quires = stored === undefined ? [] : quiresOf(stored)
    this.#content = { quires, gone: stored?.gone ?? null, data: stored?.data ?? new Uint8Array(0) }
    return this.#content
  }

  get slots(): number {
    return this.#open().quires.reduce((sum, { slots }) => sum + slots, 0)
  }

  /** What it takes of memory, about, while it is open. */
  get bytes(): number {
    return this.#open().data.byteLength
  }

  item(slot: number): string {
    const changed = this.#changes.get(slot)
    if (changed === null) throw damagedReam()
    if (changed !== undefined) return changed
    const { quires, gone } = this.#open()
    const { quire, index } = placeOf(quires, gone, slot)
    return readRaw(quire, (raw) => Buffer.from(cutItems(raw, index, index + 1)).toString())
  }

  /** Replaces the item in a slot, or removes it. */
  put(slot: number, text: string | null): void {
    this.#changes.set(slot, text)
  }

  /** Adds the quire that begins at position `start`: of the tail's items there, some of which may be gone, and of what completes it. */
  close(start: number, items: readonly TailItem[], completion: RawItems = NO_ITEMS): void {
    if (start % REAM_SIZE !== this.slots) throw damagedReam()
    const content = this.#open()
    const end = start + QUIRE_SIZE - completion.count
    const tail = items.filter(({ position }) => position >= start && position < end)
    const present = new Set(tail.map(({ position }) => position))
    for (let position = start; position < end; position++)
      if (!present.has(position)) content.gone = withGone(content.gone, [position % REAM_SIZE])
    const raw = joinPieces([joinItems(tail.map(({ item }) => item)), completion.raw])
    this.#closed.add(content.quires.length)
    content.quires.push({ raw, count: tail.length + completion.count, slots: QUIRE_SIZE })
  }

  /** What has to be made anew. */
  edits(): QuireEdit[] {
    const { quires, gone: before } = this.#open()
    const changes = new Map([...this.#closed].map((number) => [number, new Map<number, string | null>()]))
    for (const [slot, text] of this.#changes) {
      const { number, index } = placeOf(quires, before, slot)
      const ofQuire = changes.get(number) ?? new Map<number, string | null>()
      changes.set(number, ofQuire.set(index, text))
    }
    const gone = this.#goneAfter(before)
    const edits: QuireEdit[] = []
    let start = 0
    for (const [number, items] of quires.entries()) {
      const ofQuire = changes.get(number)
      const end = start + items.slots
      if (ofQuire !== undefined)
        edits.push({ number, items, changes: ofQuire, live: liveSlots(gone, start, end).map((slot) => slot - start) })
      start = end
    }
    return edits
  }

  /** The ream, with the quires that were made of `edits`. Then it takes no memory any more. */
  seal(edits: readonly QuireEdit[], made: readonly (readonly Quire[])[]): SealedReam {
    const { quires, gone, data } = this.#open()
    const edited = new Map(edits.map(({ number }, index) => [number, made[index] ?? []]))
    const all = quires.flatMap((quire, number) => edited.get(number) ?? [quire as Quire])
    const sealed = { ...joinQuires(all), number: this.number, gone: this.#goneAfter(gone) }
    freeOwnMemory(data)
    this.#content = undefined
    return sealed
  }

  #goneAfter(before: GoneMap): GoneMap {
    return withGone(
      before,
      [...this.#changes.keys()].filter((slot) => this.#changes.get(slot) === null),
    )
  }
}

/** A ream with other items in some slots. Those behind its quires are none of its own: they lie in the tail. */
export function changedReam(stored: SealedReam, changes: ReadonlyMap<number, string>): ReamDraft {
  const draft = new ReamDraft(stored.number, stored)
  const { slots } = draft
  for (const [slot, text] of changes) if (slot < slots) draft.put(slot, text)
  return draft
}
