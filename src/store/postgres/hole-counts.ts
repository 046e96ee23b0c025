/** What is gone of one state of a collection, as far as it was asked for. Appends leave it as it is. */

import type { HoleCount } from '../rank.ts'
import type { StoredHead } from './head.ts'
import type { Reading } from './rows.ts'

/** The blocks `from` to `to` of a level. */
interface Stretch {
  readonly level: number
  readonly from: number
  readonly to: number
}

export class HoleCounts {
  readonly #shelf: number
  readonly #fullPagesId: string
  readonly #known = new Map<string, readonly HoleCount[]>()
  #missing: Stretch | undefined

  constructor({ shelf, fullPagesId }: StoredHead) {
    this.#shelf = shelf
    this.#fullPagesId = fullPagesId
  }

  /** How many stretches are known: some hundred counts each, at most. */
  get size(): number {
    return this.#known.size
  }

  /** Whether they are those of a head. */
  areOf({ shelf, fullPagesId }: StoredHead): boolean {
    return shelf === this.#shelf && fullPagesId === this.#fullPagesId
  }

  /** See `ReadHoles`. Nothing for a stretch that is not known: where there should be something, the sums tell. */
  read(level: number, from: number, to: number): readonly HoleCount[] {
    const known = this.#known.get(`${level} ${from}`)
    this.#missing = known === undefined ? { level, from, to } : undefined
    return known ?? []
  }

  /** Reads what was not known when `read` was called last, in the snapshot of the head. Answers false if it was. */
  async fill(rows: Reading, { place, shelf }: StoredHead): Promise<boolean> {
    if (this.#missing === undefined) return false
    const { level, from, to } = this.#missing
    const found = await rows.all('readHoleBlocks', place, shelf, level, from, to)
    this.#known.set(
      `${level} ${from}`,
      found.map(([block, gone]) => ({ level, block: Number(block), gone: Number(gone) })),
    )
    return true
  }
}
