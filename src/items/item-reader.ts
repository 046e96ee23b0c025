/** What every reader of a format does: bytes in, batches of checked items out. */

import type { Piece } from './input-error.ts'
import { ItemPacker, type OwnRun } from './item-run.ts'
import { ItemScanner, type TextOptions } from './item-scanner.ts'
import type { InvalidText } from './utf8.ts'

/** At most a page of items; fewer at the end of the input, or where they are large. */
export interface InputBatch {
  readonly run: OwnRun
  /** The line on which each item begins, counted from 1. */
  readonly lines: readonly number[]
}

type Batches = Iterable<InputBatch> | AsyncIterable<InputBatch>

export abstract class ItemReader<Options extends TextOptions = TextOptions> {
  protected readonly options: Options
  protected readonly window = new ByteWindow()
  protected readonly scanner: ItemScanner
  protected readonly batch: BatchBuilder
  protected line = 1

  constructor(options: Options) {
    this.options = options
    this.scanner = new ItemScanner(options)
    this.batch = new BatchBuilder(this.scanner)
  }

  /** Takes the next bytes: valid UTF-8, no character cut in two. Throws an InputError where they are wrong. */
  abstract push(block: Uint8Array): Batches
  /** Nothing follows; or, after what was pushed, only bytes that cannot be read, which is always an InputError. */
  abstract end(invalid?: InvalidText): Batches

  /** The item at the window's start, as far as it is there. */
  protected piece(): Piece {
    const { bytes, start, end } = this.window
    return { bytes, start, end, line: this.line, item: this.batch.total + 1 }
  }
}

class BatchBuilder extends ItemPacker {
  #lines: number[] = []
  /** Items that have come, those that were taken included. */
  total = 0

  /** Takes the item that the scanner checked last. */
  addAt(line: number, bytes: Uint8Array, start: number, end: number): void {
    this.add(bytes, start, end)
    this.#lines.push(line)
    this.total++
  }

  takeBatch(): InputBatch {
    const batch = { run: this.take(), lines: this.#lines }
    this.#lines = []
    return batch
  }
}

class ByteWindow {
  /** What counts are the bytes from `start` to `end`; a reader moves `start` on. */
  bytes = new Uint8Array(0)
  start = 0
  end = 0

  get length(): number {
    return this.end - this.start
  }

  /** Adds bytes at the end. Offsets into `bytes` are other ones afterwards, those relative to `start` stay. */
  append(block: Uint8Array): void {
    if (this.end + block.length > this.bytes.length) this.#makeRoom(block.length)
    this.bytes.set(block, this.end)
    this.end += block.length
  }

  /** At least half of the bytes are free after a move, so that small blocks do not move a long item again and again. */
  #makeRoom(more: number): void {
    const needed = 2 * (this.length + more)
    const target = needed > this.bytes.length ? new Uint8Array(2 * needed) : this.bytes
    target.set(this.bytes.subarray(this.start, this.end))
    this.bytes = target
    this.end = this.length
    this.start = 0
  }
}
