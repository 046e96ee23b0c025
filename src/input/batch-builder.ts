/** Collects checked items and their lines into batches. */

import { ItemPacker } from '../contract/item-packer.ts'
import type { ItemScanner } from '../contract/item-scanner.ts'
import type { InputBatch } from './item-reader.ts'

export class BatchBuilder {
  readonly #packer: ItemPacker
  #lines: number[] = []
  /** Items that have come, those that were taken included. */
  total = 0

  constructor(scanner: ItemScanner) {
    this.#packer = new ItemPacker(scanner)
  }

  get isEmpty(): boolean {
    return this.#packer.count === 0
  }

  get isFull(): boolean {
    return this.#packer.isFull
  }

  /** Takes the item that the scanner checked last. */
  add(bytes: Uint8Array, start: number, end: number, line: number): void {
    this.#packer.add(bytes, start, end)
    this.#lines.push(line)
    this.total++
  }

  take(): InputBatch {
    const batch = { run: this.#packer.take(), lines: this.#lines }
    this.#lines = []
    return batch
  }
}
