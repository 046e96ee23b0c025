/** What a store of collections does. `test/store/describe-store.ts` is the specification; every engine runs it. */

import type { ItemRun } from '../contract/item-run.ts'

/** What is fixed when a collection is created; only `isPrivate` can be changed later. */
export interface CollectionSettings {
  /** The field that identifies an item, or null. */
  readonly keyField: string | null
  readonly isPaginated: boolean
  readonly isPrivate: boolean
}

/** A collection and its head row: one state of it, at one commit. */
export interface Head extends CollectionSettings {
  readonly name: string
  /** Random; a collection dropped and created again has another one. */
  readonly id: number
  /** Goes up when the whole collection is replaced. */
  readonly generation: number
  /** Goes up with every commit. */
  readonly version: number
  /** Goes up with every commit that is not a pure append. */
  readonly epoch: number
  /** The position that the next appended item gets. */
  readonly next: number
  /** The exact number of items. */
  readonly live: number
}

/** Some items in a row, in either of the two forms that an answer needs; the one that is not at hand is made on demand. */
export interface Segment {
  readonly count: number
  /** Length and CRC-32 of `raw()`. */
  readonly rawLength: number
  readonly crc: number
  /** The JSON texts joined by ITEM_SEPARATOR. */
  raw(): Uint8Array
  /** The same, raw-deflated and ended by a sync flush: no final block, ends on a byte boundary. */
  deflated(): Uint8Array
}

/** Head and items of one snapshot (D15). */
export interface PageRead {
  readonly head: Head
  /** The effective page; 0 for an unpaginated collection. */
  readonly page: number
  /** The items of the page in order; no segment is empty. */
  readonly segments: readonly Segment[]
}

export type OnConflict = 'fail' | 'skip' | 'replace'

export interface LoadOptions {
  /** Settings that the caller asks for. On a collection that exists, one that differs from the stored one is refused. */
  readonly settings?: Partial<CollectionSettings>
  /** Swap the whole collection instead of appending to it. Default false. */
  readonly isReplacement?: boolean
  /** What to do with an item whose key is there already. Default 'fail'. */
  readonly onConflict?: OnConflict
}

export interface LoadResult {
  readonly head: Head
  readonly appended: number
  readonly replaced: number
  readonly skipped: number
}

/** A big write under way: unseen by readers until `commit`, and without a trace after `abort`. */
export interface Load {
  /** The settings in force: the stored ones, or those of the collection to be created. */
  readonly settings: CollectionSettings
  /**
   * Takes the next items and resolves when they are written. Several calls may be under way at once, which is what makes a
   * load fast; the items come in the order of the calls. Rejects with an `ItemConflict` when a key is there already and
   * `onConflict` is 'fail'. After any rejection only `abort` makes sense.
   */
  append(run: ItemRun): Promise<void>
  /** Makes all of it visible at once, durably. */
  commit(): Promise<LoadResult>
  abort(): Promise<void>
}

/** One invariant that does not hold. */
export interface Finding {
  readonly collection: string
  readonly message: string
}

export interface VerifyResult {
  readonly collections: number
  readonly items: number
  readonly findings: readonly Finding[]
}

export interface Store {
  /** All collections in order of their names, from one snapshot. */
  collections(): Promise<Head[]>
  head(name: string): Promise<Head | undefined>
  /** The page that answers a request for `page`, or all items of an unpaginated collection: head and items from one snapshot. */
  page(name: string, page: number): Promise<PageRead | undefined>
  /** The item with that key: its JSON text, and the head of the same snapshot. Without such an item `item` is undefined. */
  item(name: string, key: string): Promise<{ head: Head; item: Uint8Array | undefined } | undefined>
  /** All items in order, as runs of raw text, from one snapshot that lasts as long as the iteration. */
  items(name: string): AsyncIterable<Segment>

  /** Creates an empty collection. Rejects if the name is taken. */
  create(name: string, settings?: Partial<CollectionSettings>): Promise<Head>
  setPrivate(name: string, isPrivate: boolean): Promise<Head>
  drop(name: string): Promise<void>

  /** Each of these is one commit, durable when it resolves: all of it or, when it rejects, nothing. */
  append(name: string, run: ItemRun): Promise<Head>
  /** Replaces the items that have the keys of the run; each keeps its place. Every key must be there. */
  replace(name: string, run: ItemRun): Promise<Head>
  /** Removes the items with these keys. Every key must be there. */
  delete(name: string, keys: readonly string[]): Promise<Head>

  /** Begins a big write. Until it ends, other writers of this collection are refused with 'busy'. */
  load(name: string, options?: LoadOptions): Promise<Load>

  /** Checks every invariant of the storage format in one snapshot. */
  verify(onProgress?: (items: number, total: number) => void): Promise<VerifyResult>

  /** Rejects when the store cannot be read. */
  ping(): Promise<void>
  close(): Promise<void>
}
