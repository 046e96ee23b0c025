/** What every reader of a format does: bytes in, batches of checked items out. */

import type { ItemRun } from '../contract/item-run.ts'

/** At most a page of items; only the last batch of an input is shorter. */
export interface InputBatch {
  readonly run: ItemRun
  /** The line on which each item begins, counted from 1. */
  readonly lines: readonly number[]
}

type Batches = Iterable<InputBatch> | AsyncIterable<InputBatch>

export interface ItemReader {
  /** Takes the next bytes: valid UTF-8, no character cut in two. Throws an InputError where they are wrong. */
  push(block: Uint8Array): Batches
  /** Nothing follows; or, after what was pushed, only bytes that are not UTF-8, which is always an InputError. */
  end(invalid?: Uint8Array): Batches
}
