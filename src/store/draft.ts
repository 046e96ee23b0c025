/**
 * A collection while changes to it wait for their commit: what a change does to head, reams, tail, keys and holes,
 * whatever engine keeps them. The engine reads what the changes need, each is applied here, in memory, and is refused
 * before it has changed anything. Then the engine writes all that differs at once.
 */

import { keepsHistory } from '../contract/state-tag.ts'
import type { ItemRun } from '../items/item-run.ts'
import {
  checkFits,
  checkIdentity,
  checkOrigin,
  missingCollection,
  missingItem,
  movedHead,
  newHead,
  requireKeys,
} from './collection-rules.ts'
import { addToLog, type LoggedChange } from './history.ts'
import { ItemCollector, type RawItems, splitItems } from './item-text.ts'
import { QUIRE_SIZE, REAM_SIZE, tailStart } from './positions.ts'
import { damagedReam, type SealedReam, type TailItem } from './ream.ts'
import { ReamDraft } from './ream-draft.ts'
import type { CollectionSettings, Head, Origin, Retention } from './store.ts'
import { ItemConflict } from './store-error.ts'

/** A write to a collection: what it has to know, and what it then does to the draft. */
export interface Change<T> {
  /** The keys whose positions it has to know. Default none. */
  readonly keys?: readonly string[]
  /** It reads or changes the items with these keys. Default false. */
  readonly touchesItems?: boolean
  /** Items that it may append. Default 0. */
  readonly appends?: number
  /** It may make the collection. Default false. */
  readonly mayCreate?: boolean
  /** It drops the collection, and shares its draft with no other. Default false. */
  readonly isDrop?: boolean
  /** Does it, or throws before it has changed anything but the head. */
  apply(draft: Draft): T
}

/** Rows that have to be read before changes are applied. */
interface MissingRows {
  readonly reams: readonly number[]
  /** The positions of the whole tail, if it is needed. */
  readonly tail: { readonly from: number; readonly to: number } | undefined
  /** Else single positions of it. */
  readonly tailPositions: readonly number[]
}

export class Draft {
  readonly name: string
  /** The head as it is stored; undefined if there is no such collection. */
  readonly stored: Head | undefined
  readonly #obstacle: Error | undefined
  #head: Head | undefined
  /** Undefined for a key that is known not to be there. */
  readonly #positions = new Map<string, number | undefined>()
  readonly #reams = new Map<number, ReamDraft>()
  readonly #tail = new Map<number, string>()
  #isTailRead = false

  /** What differs from what is stored. Keys are removed before others, or the same, are added. */
  readonly removedKeys = new Set<string>()
  readonly addedKeys = new Map<string, number>()
  readonly changedReams = new Map<number, ReamDraft>()
  /** Null where an item is gone. */
  readonly changedTail = new Map<number, string | null>()
  /** How many were removed, by ream. */
  readonly holes = new Map<number, number>()
  /** Where the tail began that is a quire now. */
  closedTail: number | undefined
  /** What was done, in order, where history is kept. */
  readonly log: LoggedChange[] = []
  /** By the write that is being applied. */
  readonly #noted: LoggedChange[] = []

  /** `obstacle` is why nothing may be written now, if so. */
  constructor(name: string, head: Head | undefined, obstacle?: Error) {
    this.name = name
    this.stored = head
    this.#head = head
    this.#obstacle = obstacle
  }

  /** Undefined while there is no such collection. */
  get head(): Head | undefined {
    return this.#head
  }

  get isChanged(): boolean {
    return this.#head !== this.stored
  }

  // What has to be read

  /** The keys whose positions have to be read for these changes. */
  missingKeys(changes: readonly Change<unknown>[]): string[] {
    if (this.stored === undefined || this.stored.keyField === null || this.#obstacle !== undefined) return []
    const keys = new Set(changes.flatMap((change) => change.keys ?? []))
    return [...keys].filter((key) => !this.#positions.has(key))
  }

  addPositions(keys: readonly string[], positions: ReadonlyMap<string, number>): void {
    for (const key of keys) this.#positions.set(key, positions.get(key))
  }

  /** What else has to be read, once the positions are known. */
  missingRows(changes: readonly Change<unknown>[]): MissingRows {
    const { stored } = this
    if (stored === undefined || this.#head === undefined || this.#obstacle !== undefined)
      return { reams: [], tail: undefined, tailPositions: [] }
    const touched = changes.flatMap(({ keys = [], touchesItems }) => (touchesItems ? keys : []))
    const positions = touched.map((key) => this.#positions.get(key)).filter((position) => position !== undefined)
    const from = tailStart(stored)
    const appends = changes.reduce((sum, change) => sum + (change.appends ?? 0), 0)
    const isClosing = this.#head.next + appends >= from + QUIRE_SIZE
    const inReams = positions.filter((position) => position < from)
    // A quire that is closed goes behind the others of its ream.
    if (isClosing && from % REAM_SIZE > 0) inReams.push(from)
    const numbers = new Set(inReams.map((position) => Math.floor(position / REAM_SIZE)))
    const reams = [...numbers].filter((number) => !this.#reams.has(number))
    const isOpen = stored.next > from && !this.#isTailRead
    if (isOpen && isClosing) return { reams, tail: { from, to: stored.next }, tailPositions: [] }
    const isUnread = (position: number) => position >= from && position < stored.next && !this.#tail.has(position)
    return { reams, tail: undefined, tailPositions: isOpen ? [...new Set(positions.filter(isUnread))] : [] }
  }

  addReam(number: number, stored: SealedReam | (() => SealedReam)): void {
    this.#reams.set(number, new ReamDraft(number, stored))
  }

  addTail(items: Iterable<TailItem>, isWhole: boolean): void {
    for (const { position, item } of items) if (!this.changedTail.has(position)) this.#tail.set(position, item)
    this.#isTailRead ||= isWhole
  }

  // What changes do

  /** Applies a change, or throws and leaves everything as it was. */
  apply<T>(change: Change<T>): T {
    const before = this.#head
    try {
      const result = change.apply(this)
      addToLog(this.log, this.#noted.splice(0), this.#head?.version ?? 0)
      return result
    } catch (error) {
      this.#head = before
      this.#noted.length = 0
      throw error
    }
  }

  checkObstacle(): void {
    if (this.#obstacle !== undefined) throw this.#obstacle
  }

  requireHead(): Head {
    if (this.#head === undefined) throw missingCollection(this.name)
    return this.#head
  }

  /**
   * The head of a collection that may be written to now; with an id, only if it is that collection, and with an origin, only if it
   * is a mirror that shows just that.
   */
  writableHead(collectionId?: number, origin?: Origin): Head {
    this.checkObstacle()
    const head = this.requireHead()
    checkIdentity(head, collectionId)
    checkOrigin(head, origin)
    return head
  }

  create(settings: CollectionSettings): Head {
    this.#head = newHead(this.name, settings)
    return this.#head
  }

  /** One state further. */
  move(change: Partial<Head>, isPureAppend: boolean): Head {
    this.#head = movedHead(this.requireHead(), change, isPureAppend)
    return this.#head
  }

  /** Several changes as one state further, which may also have another origin. */
  inOneStep(isPureAppend: boolean, change: () => void, origin?: Origin): Head {
    const before = this.requireHead()
    change()
    const after = this.requireHead()
    if (after === before && origin === undefined) return before
    this.#head = before
    const { next, live, changes } = after
    return this.move({ next, live, changes, ...(origin && { origin }) }, isPureAppend)
  }

  drop(): void {
    this.#head = undefined
  }

  /** History begins, or ends, with the state that this leads to. */
  setRetention(retention: Partial<Retention>): Head {
    const head = this.requireHead()
    const isSwitched = keepsHistory({ ...head, ...retention }) !== keepsHistory(head)
    return this.move({ ...retention, ...(isSwitched && { historyFrom: head.version + 1 }) }, true)
  }

  forget(): Head {
    return this.move({ historyFrom: this.requireHead().version + 1 }, true)
  }

  /** Items that one write appends one after the other are one stretch. */
  #note(change: LoggedChange): void {
    const last = this.#noted.at(-1)
    const goesOn = last?.kind === 'append' && change.kind === 'append' && last.position + last.count === change.position
    if (goesOn) this.#noted.splice(-1, 1, { ...last, count: last.count + change.count })
    else this.#noted.push(change)
  }

  /** Reads the text of the item with that key, if there is one. */
  find(key: string): (() => string) | undefined {
    const position = this.#positions.get(key)
    return position === undefined ? undefined : () => this.#item(position)
  }

  append(run: ItemRun): Head {
    const head = this.requireHead()
    if (run.count === 0) return head
    checkFits(head, run.count)
    const fresh = new Map<string, number>()
    for (const [index, key] of requireKeys(head, run).entries()) {
      if (this.#positions.get(key) !== undefined || fresh.has(key)) throw new ItemConflict(index, key)
      fresh.set(key, head.next + index)
    }
    for (const [key, position] of fresh) {
      this.#positions.set(key, position)
      this.addedKeys.set(key, position)
    }
    this.#place(head, run)
    const changes = head.changes + (keepsHistory(head) ? run.count : 0)
    if (keepsHistory(head)) this.#note({ kind: 'append', position: head.next, count: run.count })
    return this.move({ next: head.next + run.count, live: head.live + run.count, changes }, true)
  }

  replace(keys: readonly string[], texts: readonly string[]): Head {
    const positions = keys.map((key) => this.#requirePosition(key))
    for (const [index, position] of positions.entries()) this.#put(position, texts[index] ?? '')
    return this.move({ changes: this.#changesWith(keys) }, false)
  }

  delete(keys: readonly string[]): Head {
    const positions = new Map<string, number>()
    for (const key of keys) {
      if (positions.has(key)) throw missingItem(this.requireHead(), key)
      positions.set(key, this.#requirePosition(key))
    }
    for (const [key, position] of positions) {
      this.#put(position, null)
      this.#positions.set(key, undefined)
      if (!this.addedKeys.delete(key)) this.removedKeys.add(key)
      const number = Math.floor(position / REAM_SIZE)
      this.holes.set(number, (this.holes.get(number) ?? 0) + 1)
    }
    return this.move({ live: this.requireHead().live - keys.length, changes: this.#changesWith(keys) }, false)
  }

  /** The number of changes, with one for each of these keys. */
  #changesWith(keys: readonly string[]): number {
    const head = this.requireHead()
    return head.changes + (keepsHistory(head) ? keys.length : 0)
  }

  #requirePosition(key: string): number {
    const position = this.#positions.get(key)
    if (position === undefined) throw missingItem(this.requireHead(), key)
    return position
  }

  #item(position: number): string {
    if (position < tailStart(this.requireHead())) return this.#reamAt(position).item(position % REAM_SIZE)
    const text = this.#tail.get(position)
    if (text === undefined) throw damagedReam()
    return text
  }

  #put(position: number, text: string | null): void {
    const head = this.requireHead()
    const isNoted = keepsHistory(head)
    const kind = text === null ? 'delete' : 'replace'
    if (position < tailStart(head)) {
      const ream = this.#reamAt(position)
      const slot = position % REAM_SIZE
      if (isNoted) this.#note({ kind, position, count: 1, before: ream.changed(slot) ?? undefined })
      ream.put(slot, text, isNoted)
      this.changedReams.set(ream.number, ream)
    } else {
      if (isNoted) this.#note({ kind, position, count: 1, before: this.#tail.get(position) })
      this.#putTail(position, text)
    }
  }

  #putTail(position: number, text: string | null): void {
    if (text === null) this.#tail.delete(position)
    else this.#tail.set(position, text)
    this.changedTail.set(position, text)
  }

  #reamAt(position: number): ReamDraft {
    const ream = this.#reams.get(Math.floor(position / REAM_SIZE))
    if (ream === undefined) throw damagedReam()
    return ream
  }

  /** Puts items at the positions from `next` on: into the tail, closing every quire that becomes full. */
  #place({ next }: Head, run: ItemRun): void {
    const collector = new ItemCollector(QUIRE_SIZE, QUIRE_SIZE - (next % QUIRE_SIZE))
    let start = tailStart({ next })
    for (const full of collector.add(run.text, run.count)) {
      this.#close(start, full)
      start += QUIRE_SIZE
    }
    const rest = collector.rest()
    const from = next + run.count - rest.count
    for (const [index, text] of splitItems(rest.raw).entries()) this.#putTail(from + index, text)
  }

  /** Makes a quire of the tail's items, with what completes it. Positions without an item are gone. */
  #close(start: number, completion: RawItems): void {
    const items: TailItem[] = []
    for (let position = start; position < start + QUIRE_SIZE - completion.count; position++) {
      const item = this.#tail.get(position)
      if (item !== undefined) items.push({ position, item })
      this.#tail.delete(position)
      this.changedTail.delete(position)
      this.closedTail ??= start
    }
    const number = Math.floor(start / REAM_SIZE)
    const ream = this.#reams.get(number) ?? new ReamDraft(number)
    ream.close(start, items, completion)
    this.#reams.set(number, ream)
    this.changedReams.set(number, ream)
  }
}
