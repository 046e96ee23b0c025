/** A collection as it lies in a store: for whoever moves it without changing anything in it. */

import type { GoneMap } from './gone-map.ts'
import type { ReamBytes } from './ream-bytes.ts'
import type { Head } from './store.ts'

export interface NumberedReam extends ReamBytes {
  readonly number: number
}

/** A ream with the map of what is gone of it. */
export interface SealedReam extends NumberedReam {
  readonly gone: GoneMap
}

export interface TailItem {
  readonly position: number
  /** The JSON text. */
  readonly item: string
}

export interface KeyPosition {
  readonly key: string
  readonly position: number
}

/** All that a collection consists of, from one snapshot. */
export interface StoredRows {
  /** The sealed reams by number, also those that are empty. */
  reams(): AsyncIterable<SealedReam>
  /** The items behind them, by position. */
  tail(): AsyncIterable<TailItem>
  /** The keys in the order of their bytes, many at a time. None where the collection has no key. */
  keys(): AsyncIterable<readonly KeyPosition[]>
}

export interface StoredCollection extends StoredRows {
  readonly head: Head
}

/** The same rows, where errors of the engine are explained. Those of the reader are not its own, and pass by. */
export function explainRows(rows: StoredRows, explain: (error: unknown) => unknown): StoredRows {
  async function* explained<T>(all: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* all
    } catch (error) {
      throw explain(error)
    }
  }
  return {
    reams: () => explained(rows.reams()),
    tail: () => explained(rows.tail()),
    keys: () => explained(rows.keys()),
  }
}

/** What a promise came to. */
export function unwrap<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

/** Rows of keys that are read, and written, at a time. */
export const KEYS_AT_A_TIME = 10_000
