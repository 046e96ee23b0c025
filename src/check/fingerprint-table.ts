/** Remembers where a fingerprint was seen first. Its memory is bounded: beyond that it keeps every second one, every fourth, … */

import type { Fingerprint } from './fingerprint.ts'

/** 2²¹ slots of 16 bytes: 32 MB at most. Up to 1.4 million fingerprints all are kept. */
const MAX_SLOTS = 2 ** 21
const FEWEST_SLOTS = 2 ** 11

/** Above this share of full slots a search takes long. */
const FILL = 0.7

interface Place {
  readonly page: number
  readonly index: number
}

export class FingerprintTable {
  #slots = FEWEST_SLOTS
  #size = 0
  /** A fingerprint is kept if these bits of it are 0: so of two equal ones both are kept, or neither. */
  #mask = 0
  #highs = new Uint32Array(FEWEST_SLOTS)
  #lows = new Uint32Array(FEWEST_SLOTS)
  /** Page numbers begin at 1: 0 marks a free slot. */
  #pages = new Uint32Array(FEWEST_SLOTS)
  #indexes = new Uint32Array(FEWEST_SLOTS)

  /** Memory that it takes. */
  get byteLength(): number {
    return 4 * this.#slots * Uint32Array.BYTES_PER_ELEMENT
  }

  /** Whether this one is among those that are remembered. */
  keeps({ high }: Fingerprint): boolean {
    return (high & this.#mask) === 0
  }

  /** Answers where the same was seen before; if it was not, remembers this place. */
  add(print: Fingerprint, page: number, index: number): Place | undefined {
    if (!this.keeps(print)) return undefined
    const { high, low } = print
    const slot = this.#find(high, low)
    if (this.#pages[slot] !== 0) return { page: this.#pages[slot] ?? 0, index: this.#indexes[slot] ?? 0 }
    this.#highs[slot] = high
    this.#lows[slot] = low
    this.#pages[slot] = page
    this.#indexes[slot] = index
    this.#size++
    if (this.#size > this.#slots * FILL) this.#makeRoom()
    return undefined
  }

  /** The slot of the fingerprint, or the free one where it would go. */
  #find(high: number, low: number): number {
    let slot = low & (this.#slots - 1)
    while (this.#pages[slot] !== 0 && (this.#lows[slot] !== low || this.#highs[slot] !== high))
      slot = (slot + 1) & (this.#slots - 1)
    return slot
  }

  #makeRoom(): void {
    const [highs, lows, pages, indexes] = [this.#highs, this.#lows, this.#pages, this.#indexes]
    if (this.#slots < MAX_SLOTS) this.#slots *= 2
    else this.#mask = this.#mask * 2 + 1
    this.#highs = new Uint32Array(this.#slots)
    this.#lows = new Uint32Array(this.#slots)
    this.#pages = new Uint32Array(this.#slots)
    this.#indexes = new Uint32Array(this.#slots)
    this.#size = 0
    for (let i = 0; i < pages.length; i++) {
      const [high = 0, low = 0, page = 0, index = 0] = [highs[i], lows[i], pages[i], indexes[i]]
      if (page !== 0) this.add({ high, low }, page, index)
    }
  }
}
