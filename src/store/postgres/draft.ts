/**
 * A collection while changes to it wait for their commit. Whatever they need was read under the lock on its head; each
 * is applied here, in memory, and is refused before it has changed anything. Then all that differs is written at once.
 */

import type { ItemRun } from '../../items/item-run.ts'
import {
  checkIdentity,
  checkRoom,
  missingCollection,
  missingItem,
  movedHead,
  requireKeys,
} from '../collection-rules.ts'
import { withGone } from '../gone-map.ts'
import type { OpenReam } from '../open-ream.ts'
import { REAM_SIZE } from '../rank.ts'
import { damagedReam, joinItems, joinPieces, ReamBuilder, splitItems } from '../ream.ts'
import { ItemConflict, type StoreError } from '../store-error.ts'
import { type StoredHead, sealedReams } from './head.ts'
import { ReamDraft } from './ream-draft.ts'

/** What was read before: of keys, reams and the tail only what the changes need. */
export interface Findings {
  readonly head: StoredHead | undefined
  /** Why nothing may be written now, if so. */
  readonly obstacle?: StoreError | undefined
  readonly positions?: ReadonlyMap<string, number>
  readonly reams?: readonly ReamDraft[]
  readonly tail?: ReadonlyMap<number, string>
}

export class Draft {
  readonly name: string
  readonly #obstacle: StoreError | undefined
  #head: StoredHead | undefined
  readonly #positions: Map<string, number>
  readonly #reams = new Map<number, ReamDraft>()
  readonly #tail: Map<number, string>

  /** What differs from what is stored; null where something is gone. */
  readonly changedKeys = new Map<string, number | null>()
  readonly changedReams = new Map<number, ReamDraft>()
  readonly changedTail = new Map<number, string | null>()
  /** How many were removed, by ream. */
  readonly holes = new Map<number, number>()
  /** Reams that were a tail and are sealed now. */
  readonly sealed: number[] = []

  constructor(name: string, { head, obstacle, positions = new Map(), reams = [], tail = new Map() }: Findings) {
    this.name = name
    this.#head = head
    this.#obstacle = obstacle
    this.#positions = new Map(positions)
    for (const ream of reams) this.#reams.set(ream.number, ream)
    this.#tail = new Map(tail)
  }

  /** Undefined while there is no such collection. */
  get head(): StoredHead | undefined {
    return this.#head
  }

  requireHead(): StoredHead {
    if (this.#head === undefined) throw missingCollection(this.name)
    return this.#head
  }

  /** The head of a collection that may be written to now; with an id, only if it is that collection. */
  writableHead(collectionId?: number): StoredHead {
    this.checkObstacle()
    const head = this.requireHead()
    checkIdentity(head, collectionId)
    return head
  }

  checkObstacle(): void {
    if (this.#obstacle !== undefined) throw this.#obstacle
  }

  setHead(head: StoredHead | undefined): void {
    this.#head = head
  }

  /** Reads the text of the item with that key, if there is one. */
  find(key: string): (() => string) | undefined {
    const position = this.#positions.get(key)
    return position === undefined ? undefined : () => this.#item(position)
  }

  append(run: ItemRun): StoredHead {
    const head = this.requireHead()
    if (run.count === 0) return head
    checkRoom(head, run.count)
    const fresh = new Map<string, number>()
    for (const [index, key] of requireKeys(head, run).entries()) {
      if (this.#positions.has(key) || fresh.has(key)) throw new ItemConflict(index, key)
      fresh.set(key, head.next + index)
    }
    for (const [key, position] of fresh) this.#setKey(key, position)
    this.#place(head, run)
    return this.#move({ next: head.next + run.count, live: head.live + run.count }, true)
  }

  replace(keys: readonly string[], texts: readonly string[]): StoredHead {
    const changes = new Map(keys.map((key, index) => [this.#requirePosition(key), texts[index] ?? '']))
    for (const [position, text] of changes) this.#put(position, text)
    return this.#move({}, false)
  }

  delete(keys: readonly string[]): StoredHead {
    const positions = new Map<string, number>()
    for (const key of keys) {
      if (positions.has(key)) throw missingItem(this.requireHead(), key)
      positions.set(key, this.#requirePosition(key))
    }
    for (const [key, position] of positions) {
      this.#put(position, null)
      this.#setKey(key, null)
      const number = Math.floor(position / REAM_SIZE)
      this.holes.set(number, (this.holes.get(number) ?? 0) + 1)
    }
    return this.#move({ live: this.requireHead().live - keys.length }, false)
  }

  /** One state further. */
  #move(change: Partial<StoredHead>, isPureAppend: boolean): StoredHead {
    const moved = movedHead(this.requireHead(), change, isPureAppend)
    this.#head = moved
    return moved
  }

  #setKey(key: string, position: number | null): void {
    if (position === null) this.#positions.delete(key)
    else this.#positions.set(key, position)
    this.changedKeys.set(key, position)
  }

  #requirePosition(key: string): number {
    const position = this.#positions.get(key)
    if (position === undefined) throw missingItem(this.requireHead(), key)
    return position
  }

  #item(position: number): string {
    const number = Math.floor(position / REAM_SIZE)
    if (number < sealedReams(this.requireHead())) return this.#ream(number).item(position % REAM_SIZE)
    const text = this.#tail.get(position)
    if (text === undefined) throw damagedReam()
    return text
  }

  #put(position: number, text: string | null): void {
    const number = Math.floor(position / REAM_SIZE)
    if (number < sealedReams(this.requireHead())) {
      const ream = this.#ream(number)
      ream.put(position % REAM_SIZE, text)
      this.changedReams.set(number, ream)
    } else this.#putTail(position, text)
  }

  #putTail(position: number, text: string | null): void {
    if (text === null) this.#tail.delete(position)
    else this.#tail.set(position, text)
    this.changedTail.set(position, text)
  }

  #ream(number: number): ReamDraft {
    const ream = this.#reams.get(number)
    if (ream === undefined) throw damagedReam()
    return ream
  }

  /** Puts items at the positions from `next` on: into the tail, sealing every ream that becomes full. */
  #place(head: StoredHead, run: ItemRun): void {
    const slot = head.next % REAM_SIZE
    const builder = new ReamBuilder(REAM_SIZE - slot)
    let number = sealedReams(head)
    for (const full of builder.add(run.text, run.count)) {
      const ream = full.count < REAM_SIZE ? this.#seal(number, full) : { ...full, gone: null }
      this.#addReam(new ReamDraft(number, ream))
      number++
    }
    const rest = builder.rest()
    const from = head.next + run.count - rest.count
    for (const [index, text] of splitItems(rest.raw).entries()) this.#putTail(from + index, text)
  }

  #addReam(ream: ReamDraft): void {
    this.#reams.set(ream.number, ream)
    this.changedReams.set(ream.number, ream)
  }

  /** Makes a ream of the tail's items, with what completes it. Positions without an item are gone. */
  #seal(number: number, completion: { raw: Uint8Array; count: number }): OpenReam {
    const texts: string[] = []
    const missing: number[] = []
    for (let slot = 0; slot < REAM_SIZE - completion.count; slot++) {
      const position = number * REAM_SIZE + slot
      const text = this.#tail.get(position)
      if (text === undefined) missing.push(slot)
      else texts.push(text)
      this.#tail.delete(position)
      this.changedTail.delete(position)
    }
    this.sealed.push(number)
    const raw = joinPieces([joinItems(texts), completion.raw])
    return { raw, count: texts.length + completion.count, gone: withGone(null, missing) }
  }
}
