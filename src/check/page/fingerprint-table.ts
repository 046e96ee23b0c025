/** Remembers where a fingerprint was seen first. Its memory is bounded: when full, it keeps every second one, every fourth, … */

import { type Fingerprint, fingerprintOf, type ItemFacts } from './items.ts'

/** 2²¹ slots of 16 bytes: 32 MB at most. Up to 1.4 million fingerprints all are kept. */
const MAX_SLOTS = 2 ** 21
const MIN_SLOTS = 2 ** 11

/** Above this share of full slots a search takes long. */
const MAX_FILL = 0.7

/** More than there are items on any page whose items are kept. */
const PAGE_FACTOR = 2 ** 14

interface Place {
  readonly page: number
  readonly index: number
}

export class FingerprintTable {
  #size = 0
  /** A fingerprint is kept if these bits of it are 0: so of two equal ones both are kept, or neither. */
  #mask = 0
  #prints = new Float64Array(MIN_SLOTS)
  /** Page and index in one number. Page numbers begin at 1: 0 marks a free slot. */
  #places = new Float64Array(MIN_SLOTS)

  /** Memory that it takes. */
  get byteLength(): number {
    return this.#prints.byteLength + this.#places.byteLength
  }

  /** Whether this one is among those that are remembered. */
  keeps(print: Fingerprint): boolean {
    return (Math.floor(print / 2 ** 32) & this.#mask) === 0
  }

  /** Returns where the same one was seen before; if it was not, remembers this place. */
  add(print: Fingerprint, page: number, index: number): Place | undefined {
    const place = this.#insert(print, page * PAGE_FACTOR + index)
    return place === 0 ? undefined : { page: Math.floor(place / PAGE_FACTOR), index: place % PAGE_FACTOR }
  }

  /** Returns the place that is there already, or 0. */
  #insert(print: Fingerprint, place: number): number {
    if (!this.keeps(print)) return 0
    const slots = this.#prints.length
    let slot = print % slots
    while (this.#places[slot] !== 0 && this.#prints[slot] !== print) slot = (slot + 1) % slots
    const before = this.#places[slot] ?? 0
    if (before !== 0) return before
    this.#prints[slot] = print
    this.#places[slot] = place
    if (++this.#size > slots * MAX_FILL) this.#makeRoom()
    return 0
  }

  #makeRoom(): void {
    const [prints, places] = [this.#prints, this.#places]
    const slots = Math.min(MAX_SLOTS, 2 * prints.length)
    if (slots === prints.length) this.#mask = this.#mask * 2 + 1
    this.#prints = new Float64Array(slots)
    this.#places = new Float64Array(slots)
    this.#size = 0
    for (const [i, place] of places.entries()) if (place !== 0) this.#insert(prints[i] ?? 0, place)
  }
}

/** Recognizes a page of items that was there before. */
export class PageMemory {
  readonly #table = new FingerprintTable()

  /**
   * The number of an earlier page with the same items. Equal items are legal; but a whole page of items that nearly all
   * differ from one another comes only once.
   */
  earlier(page: number, { contents }: ItemFacts): number | undefined {
    const minDifferent = contents.length - Math.max(1, contents.length / 100)
    if (contents.length < 2 || new Set(contents).size < minDifferent) return undefined
    const before = this.#table.add(fingerprintOf(contents.join()), page, 0)?.page
    return before === page ? undefined : before
  }
}
