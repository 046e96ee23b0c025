/** A ream that is being changed, quire by quire: only those that differ are deflated anew. Pure. */

import {
  cutItems,
  editItems,
  itemStarts,
  itemText,
  joinItems,
  joinPieces,
  NO_ITEMS,
  type RawItems,
} from './item-text.ts'
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

/** Items that are to be a quire. */
type RawQuire = RawItems & { readonly slots: number }
/** Items of some slots: a quire, or what is to be one. */
type Items = Quire | RawQuire

/** A text takes the place of an item, null removes it. By slot, or by the item's index. */
type Changes = ReadonlyMap<number, string | null>

/** A ream and what is to become of it. Plain, so that it can be sent to a thread. */
export interface ReamEdit {
  readonly number: number
  /** As it lies in the store. */
  readonly stored: SealedReam | undefined
  /** Come behind its quires. */
  readonly closed: readonly RawQuire[]
  /** Of all these slots, what is gone before the changes. */
  readonly gone: GoneMap
  readonly changes: Changes
  /** Slots whose items are wanted as they are before the changes. */
  readonly wanted: ReadonlySet<number>
}

/** A ream that was changed, and by slot the items that were wanted of it before. */
export interface ChangedReam extends SealedReam {
  readonly before: ReadonlyMap<number, string>
}

/** Makes the ream. Quires that stay as they are are not looked into. */
export function sealReam({ number, stored, closed, gone, changes, wanted }: ReamEdit): ChangedReam {
  const quires: readonly Items[] = stored === undefined ? closed : [...quiresOf(stored), ...closed]
  const changesOf = byQuire(quires, gone, changes)
  const removed = [...changes].filter(([, text]) => text === null).map(([slot]) => slot)
  const goneAfter = withGone(gone, removed)
  const made: Quire[] = []
  const before = new Map<number, string>()
  let start = 0
  for (const [at, quire] of quires.entries()) {
    const edits = changesOf.get(at)
    const end = start + quire.slots
    if (edits === undefined && !('raw' in quire)) made.push(quire)
    else {
      const live = goneAfter === null ? undefined : liveSlots(goneAfter, start, end).map((slot) => slot - start)
      const slots = wanted.size > 0 && edits !== undefined ? liveSlots(gone, start, end) : []
      made.push(
        ...editQuire(quire, live, edits, (raw, starts) => {
          for (const [index, slot] of slots.entries())
            if (wanted.has(slot)) before.set(slot, itemText(raw, starts, index))
        }),
      )
    }
    start = end
  }
  return { ...joinQuires(made), number, gone: goneAfter, before }
}

function byQuire(quires: readonly Items[], gone: GoneMap, changes: Changes): Map<number, Map<number, string | null>> {
  const changesOf = new Map<number, Map<number, string | null>>()
  for (const [slot, text] of changes) {
    const { number, index } = placeOf(quires, gone, slot)
    const ofQuire = changesOf.get(number) ?? new Map<number, string | null>()
    changesOf.set(number, ofQuire.set(index, text))
  }
  return changesOf
}

/** Items that are not as many as their count says are damaged. `live` are the slots that hold an item afterwards, if not all do. */
function editQuire(
  items: Items,
  live: readonly number[] | undefined,
  changes: Changes | undefined,
  look: (raw: Uint8Array, starts: readonly number[]) => void,
): Quire[] {
  return readRaw(items, (raw) => {
    if (changes === undefined) return makeQuires(raw, items.slots, live, false)
    const starts = itemStarts(raw)
    if (starts.length !== items.count) throw damagedReam()
    look(raw, starts)
    return makeQuires(editItems(raw, changes, starts), items.slots, live, true)
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
export type StoredReam = SealedReam | (() => SealedReam)

/** It is read as late as possible: a commit may change thousands, more than memory holds. */
export class ReamDraft {
  readonly number: number
  readonly #stored: StoredReam | undefined
  /** By slot. */
  readonly #changes = new Map<number, string | null>()
  readonly #wanted = new Set<number>()
  /** Quires that were added, and which of their slots are gone. */
  readonly #closed: RawQuire[] = []
  readonly #goneOfClosed: number[] = []
  #slots: number | undefined

  constructor(number: number, stored?: StoredReam) {
    this.number = number
    this.#stored = stored
  }

  #read(): SealedReam | undefined {
    return typeof this.#stored === 'function' ? this.#stored() : this.#stored
  }

  /** Whether what is stored of it is read each time: then whoever reads it may give its memory away. */
  get isReadAgain(): boolean {
    return typeof this.#stored === 'function'
  }

  get slots(): number {
    this.#slots ??= this.#quires(this.#read()).reduce((sum, { slots }) => sum + slots, 0)
    return this.#slots
  }

  #quires(stored: SealedReam | undefined): Items[] {
    return [...(stored === undefined ? [] : quiresOf(stored)), ...this.#closed]
  }

  item(slot: number): string {
    const changed = this.#changes.get(slot)
    if (changed === null) throw damagedReam()
    if (changed !== undefined) return changed
    const stored = this.#read()
    const { quire, index } = placeOf(this.#quires(stored), this.#gone(stored), slot)
    return readRaw(quire, (raw) => Buffer.from(cutItems(raw, index, index + 1)).toString())
  }

  /** Replaces the item in a slot, or removes it. With `isWanted`, what is stored there comes along when it is sealed. */
  put(slot: number, text: string | null, isWanted = false): void {
    if (isWanted && !this.#changes.has(slot)) this.#wanted.add(slot)
    this.#changes.set(slot, text)
  }

  /** What a slot was changed to: null if it was removed, undefined if it was not changed. */
  changed(slot: number): string | null | undefined {
    return this.#changes.get(slot)
  }

  /** Adds the quire that begins at position `start`: of the tail's items there, some of which may be gone, and of what completes it. */
  close(start: number, items: readonly TailItem[], completion: RawItems = NO_ITEMS): void {
    if (start % REAM_SIZE !== this.slots) throw damagedReam()
    const end = start + QUIRE_SIZE - completion.count
    const tail = items.filter(({ position }) => position >= start && position < end)
    const present = new Set(tail.map(({ position }) => position))
    for (let position = start; position < end; position++)
      if (!present.has(position)) this.#goneOfClosed.push(position % REAM_SIZE)
    const raw = joinPieces([joinItems(tail.map(({ item }) => item)), completion.raw])
    this.#slots = this.slots + QUIRE_SIZE
    this.#closed.push({ raw, count: tail.length + completion.count, slots: QUIRE_SIZE })
  }

  #gone(stored: SealedReam | undefined): GoneMap {
    return withGone(stored?.gone ?? null, this.#goneOfClosed)
  }

  edit(): ReamEdit {
    const stored = this.#read()
    const gone = this.#gone(stored)
    return { number: this.number, stored, closed: this.#closed, gone, changes: this.#changes, wanted: this.#wanted }
  }
}

/**
 * A ream with other items in some slots. Those behind its quires are none of its own: they lie in the tail. What stood in the
 * slots before `wantedEnd` comes along when it is sealed.
 */
export function changedReam(stored: SealedReam, changes: ReadonlyMap<number, string>, wantedEnd: number): ReamDraft {
  const draft = new ReamDraft(stored.number, stored)
  const { slots } = draft
  for (const [slot, text] of changes) if (slot < slots) draft.put(slot, text, slot < wantedEnd)
  return draft
}
