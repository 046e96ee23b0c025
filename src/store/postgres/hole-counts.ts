/** What is gone of one state of a collection, as far as it was asked for. Appends leave it as it is. */

import { blocksIn, type HoleCount } from '../rank.ts'
import { headOf, type StoredHead } from './head.ts'
import type { Reading } from './rows.ts'
import { HEAD_WIDTH } from './statements.ts'

/** The blocks `from` to `to` of a level. */
interface Stretch {
  readonly level: number
  readonly from: number
  readonly to: number
}

export class HoleCounts {
  readonly #generationId: number
  readonly #fullPagesId: string
  readonly #known = new Map<string, readonly HoleCount[]>()
  #missing: Stretch | undefined

  constructor({ generationId, fullPagesId }: StoredHead) {
    this.#generationId = generationId
    this.#fullPagesId = fullPagesId
  }

  /** Whether they are those of a head. */
  areOf({ generationId, fullPagesId }: StoredHead): boolean {
    return generationId === this.#generationId && fullPagesId === this.#fullPagesId
  }

  /** See `ReadHoles`. Nothing for a stretch that is not known: where there should be something, the sums tell. */
  read({ next, live }: StoredHead, level: number, from: number, to: number): readonly HoleCount[] {
    this.#missing = undefined
    // Where all lies in one block, the head tells.
    if (blocksIn(next, level) === 1) return [{ level, block: 0, gone: next - live }]
    const known = this.#known.get(`${level} ${from}`)
    if (known === undefined) this.#missing = { level, from, to }
    return known ?? []
  }

  /** Whether `read` did not know what it was asked for last. */
  get isMissing(): boolean {
    return this.#missing !== undefined
  }

  /** Reads that, if the collection is still in this state. Answers its head as it is now. */
  async fill(rows: Reading, { shardKey, name }: StoredHead): Promise<StoredHead | undefined> {
    const { level = 0, from = 0, to = 0 } = this.#missing ?? {}
    const found = await rows.all('readHoleBlocks', shardKey, name, level, from, to)
    const head = found[0] && headOf(name, found[0])
    if (head !== undefined && this.areOf(head)) {
      const counts = found.filter((row) => row[HEAD_WIDTH] !== null)
      this.#known.set(
        `${level} ${from}`,
        counts.map((row) => ({ level, block: Number(row[HEAD_WIDTH]), gone: Number(row[HEAD_WIDTH + 1]) })),
      )
    }
    return head
  }
}
