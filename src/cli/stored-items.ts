/** Items of a store on their way into a load: the bytes pass as they are; only the keys are read out of them. */

import { ITEM_SEPARATOR } from '../contract/envelope.ts'
import { ItemPacker, type ItemRun } from '../items/item-run.ts'
import { ItemScanner } from '../items/item-scanner.ts'
import { damagedReam, joinPieces } from '../store/ream.ts'
import type { Segment } from '../store/store.ts'

const LINE_BREAK = 10

export class RunMaker {
  readonly #scanner: ItemScanner
  readonly #packer: ItemPacker

  constructor(keyField: string | null) {
    // What is stored was within a limit when it came.
    this.#scanner = new ItemScanner({ keyField, itemBytes: Number.POSITIVE_INFINITY })
    this.#packer = new ItemPacker(this.#scanner)
  }

  /** Throws an ItemError, or a StoreError, where the items are not as they were stored. */
  runOf(segments: readonly Segment[]): ItemRun {
    const text = joinPieces(segments.map((segment) => segment.raw()))
    for (let start = 0; start < text.byteLength; ) {
      const lineBreak = text.indexOf(LINE_BREAK, start)
      const following = lineBreak === -1 ? text.byteLength + ITEM_SEPARATOR.length : lineBreak + 1
      const end = following - ITEM_SEPARATOR.length
      this.#scanner.check(text, start, end)
      this.#packer.add(text, start, end)
      start = following
    }
    const run = this.#packer.take()
    const count = segments.reduce((sum, segment) => sum + segment.count, 0)
    if (run.count !== count || run.text.byteLength !== text.byteLength) throw damagedReam()
    return { ...run, isTransferred: true }
  }
}
