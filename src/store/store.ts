/** What a store of collections does. `test/store/describe-store.ts` is the specification; every engine runs it. */

import type { StateTag } from '../contract/state-tag.ts'
import type { ItemRun } from '../items/item-run.ts'
import type { StoreActivity } from './activity.ts'
import type { Following, NamedFollowing } from './following.ts'

/** What is fixed when a collection is created; only `isPrivate` can be changed later. */
export interface CollectionSettings {
  /** The field that identifies an item, or several, as `a,b`; null for none. */
  readonly keyField: string | null
  readonly isPaginated: boolean
  readonly isPrivate: boolean
}

/** How long earlier states of a collection can be read. */
export interface Retention {
  /** From the commit that superseded a state, in milliseconds; 0 keeps no history at all. */
  readonly retentionMs: number
  /** About how much the history may take; the oldest goes first. */
  readonly retentionBytes: number
}

/** A collection and its head row: one state of it, at one commit. */
export interface Head extends CollectionSettings, Retention {
  readonly name: string
  /** Random; a collection dropped and created again has another one. */
  readonly id: number
  /** Goes up when the whole collection is replaced. */
  readonly generation: number
  /** Goes up with every commit. */
  readonly version: number
  /** Drawn at random by every commit: two histories, such as those before and after a restore, never share one. */
  readonly commitId: string
  /** The `commitId` of the last commit that added or changed a full page: while it is the same, all full pages are. */
  readonly fullPagesId: string
  /** The position that the next appended item gets. */
  readonly next: number
  /** The exact number of items. */
  readonly live: number
  /** How many changes there were while history was kept. */
  readonly changes: number
  /** The version before which nothing is kept, because history was dropped then. */
  readonly historyFrom: number
  /** Of a mirror, which nobody else may write to; null for any other collection. */
  readonly origin: Origin | null
}

/** What a mirror is a copy of, and how far it has come. */
export interface Origin {
  /** The URL of the collection. */
  readonly url: string
  /** The state of it that the mirror shows, in words of whoever keeps the mirror. */
  readonly position: string
}

/** A head as the list of all collections has it. */
export interface ListedHead extends Head {
  /** When its version last went up, in milliseconds since 1970; null where that was before stores kept the time. */
  readonly changedAt: number | null
}

/** Some items in a row, in either of the two forms that an answer needs; the one that is not at hand is made on demand. */
export interface Segment {
  readonly count: number
  /** Whether `deflated()` is the form that is at hand. */
  readonly isDeflated: boolean
  /** Length and CRC-32 of `raw()`. */
  readonly rawLength: number
  readonly crc: number
  /** The JSON texts joined by ITEM_SEPARATOR. To be called once: the bytes are the caller's. */
  raw(): Uint8Array
  /** The same, raw-deflated: no final block, ends on a byte boundary, and refers to nothing before it. */
  deflated(): Uint8Array
  /** Around the bytes in the form that is at hand. Default: none. */
  readonly room?: Room
}

/** Free memory right before and behind some bytes, which whoever has them may fill. */
export interface Room {
  readonly before: number
  readonly after: number
}

/** Head and items of one snapshot (D15). */
export interface PageRead {
  readonly head: Head
  /** The effective page; 0 for an unpaginated collection. */
  readonly page: number
  /** The items of the page in order; no segment is empty. */
  readonly segments: readonly Segment[]
}

/** An earlier state of a collection, or the one that it is in. */
export interface StateRead {
  /** The head as it is now. */
  readonly head: Head
  /** The exact number of items that it had. */
  readonly live: number
  /** For how many milliseconds from now the state is kept at least; not long where its history is more than half of what may be. */
  readonly keptMs: number
  /**
   * The `commitId` of the last commit since that state which rewrote quires of the page. The items of the page stay the same, but
   * their deflated form does not. Undefined if there was none, or if nobody asked for the deflated form of a page.
   */
  readonly rewrittenBy?: string | undefined
}

/** A page of an earlier state, or of the changes since. */
export interface PastRead extends StateRead, PageRead {
  /** The number of items, or of changes, on all pages. */
  readonly itemCount: number
}

export type OnConflict = 'fail' | 'skip' | 'replace'

export interface LoadOptions {
  /** Settings that the caller asks for. On a collection that exists, one that differs from the stored one is refused. */
  readonly settings?: Partial<CollectionSettings>
  /** Swap the whole collection instead of appending to it. Default false. */
  readonly isReplacement?: boolean
  /** What to do with an item whose key is there already. Default 'fail'. */
  readonly onConflict?: OnConflict
  /**
   * The load begins only if the collection still is in this state, else it is refused with 'precondition-failed'. With null it
   * begins only if there is no such collection, else it is refused with 'collection-exists'. Nobody can change items while it
   * runs, so what holds at the beginning holds at the end; `setPrivate`, `setRetention` and `forget` go on, and do no harm.
   */
  readonly state?: CollectionState | null
  /** Only so can a mirror be loaded into; its commit says what it then shows. Default false. */
  readonly isMirroring?: boolean
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
   * load fast; the items come in the order of the calls. Returns the indexes of the items that were skipped, or that replace
   * others. Rejects with an `ItemConflict` when a key is there already and `onConflict` is 'fail'. After any rejection only
   * `abort` makes sense.
   */
  append(run: ItemRun): Promise<readonly number[]>
  /** Makes all of it visible at once, durably. With an origin, the collection is a mirror then. */
  commit(origin?: Origin): Promise<LoadResult>
  abort(): Promise<void>
}

/** A write that its sender may send again, because it does not know what became of the first time. */
export interface Once {
  /** Stands for the sender, the place and the key that the sender gave. */
  readonly key: string
  /** Stands for what is written. */
  readonly digest: string
}

export interface WriteOptions {
  /**
   * The same key with the same digest is answered with what was answered first, and writes nothing. With another digest it is
   * refused with 'request-differs'. A write that was refused is not remembered, and one that was done for 24 hours, but only
   * while the collection is the same: when that was dropped, the write is done anew. A drop is answered as the first time.
   */
  readonly once?: Once
  /** The id of the collection that the caller has in mind: refused with 'collection-changed' if another has the name by now. */
  readonly collectionId?: number
}

export interface AppendOptions extends WriteOptions {
  /** Make a collection with the default settings where there is none. Default false. */
  readonly create?: boolean
}

/** Conditions as HTTP has them, on the tag of the item: '*' stands for any. Refused with 'precondition-failed'. */
export interface ItemConditions {
  /** The item has one of these. */
  readonly ifMatch?: readonly string[] | '*'
  /** The item has none of these; with '*' there is no item. */
  readonly ifNoneMatch?: readonly string[] | '*'
}

/** Puts and deletes, in their order. */
export interface ItemChanges {
  /** The items to put: each takes the place of the one with its key, or is appended. */
  readonly puts: ItemRun
  /** One for each change: the key to delete, or null for the next of the items to put. */
  readonly steps: readonly (string | null)[]
}

export interface PatchOptions extends AppendOptions {
  /** Pass over deletes of keys that are not there, instead of refusing all. Default false. */
  readonly skipMissing?: boolean
  /** Pass over puts of items that are there already, byte for byte: they change nothing and are not counted. Default false. */
  readonly skipSame?: boolean
  /** Only if the collection still is in this state, else refused with 'precondition-failed'. */
  readonly state?: CollectionState
  /**
   * From one state of its origin to another: only a mirror is patched so, and only if it still shows `from`, else it is refused
   * with 'precondition-failed'. What it shows and what it holds are one commit.
   */
  readonly origin?: { readonly from: Origin; readonly to: Origin }
}

export interface Patched {
  readonly head: Head
  readonly appended: number
  readonly replaced: number
  readonly deleted: number
}

/** One state of a collection, by which a caller says which it has seen. */
export type CollectionState = Pick<Head, 'id' | 'commitId'>

export interface Created {
  readonly head: Head
  readonly isNew: boolean
}

export interface Put extends Created {
  /** The tag of the item as it is now. */
  readonly tag: string
}

/** Somebody who may do something; of the token itself nothing is known but its hash. */
export interface TokenRecord {
  readonly name: string
  /** SHA-256 in hexadecimal. */
  readonly hash: string
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Null: never. */
  readonly expiresAt: number | null
  /** Null: not revoked. */
  readonly revokedAt: number | null
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
  /** What is good to know, and no damage. */
  readonly notes: readonly string[]
}

export interface ReadOptions {
  /** A private collection is then as good as none, and takes as long. Default false. */
  readonly isPublicOnly?: boolean
}

/** Which of the two forms of a segment. */
export type SegmentForm = 'raw' | 'deflated'

export interface PageOptions extends ReadOptions {
  /**
   * The form that the caller will ask the segments for. With it a page may be read on another thread, together with others
   * that are wanted in the same turn of the event loop, and comes in that form. Without it a page is read at once, here.
   */
  readonly form?: SegmentForm
  /** The free memory that the caller would like around a single segment that comes from another thread. */
  readonly room?: Room
}

export interface StateOptions extends ReadOptions {
  /** Finds `rewrittenBy` of the page that answers a request for this one, without reading its items. */
  readonly page?: number
}

export interface Reachable {
  readonly heads: readonly ListedHead[]
  /** Servers that hold others, and are away. */
  readonly away: readonly string[]
}

export interface Store {
  /** What this process has done with it. */
  readonly activity: StoreActivity
  /** All collections in order of their names, from one snapshot. */
  collections(): Promise<ListedHead[]>
  /** The same, but those on servers that are away are left out. */
  reachable(): Promise<Reachable>
  head(name: string, options?: ReadOptions): Promise<Head | undefined>
  /** The page that answers a request for `page`, or all items of an unpaginated collection: head and items from one snapshot. */
  page(name: string, page: number, options?: PageOptions): Promise<PageRead | undefined>
  /** The item with that key: its JSON text and tag, and the head of the same snapshot. Without such an item `item` is undefined. */
  item(
    name: string,
    key: string,
    options?: ReadOptions,
  ): Promise<{ head: Head; item: { text: Uint8Array; tag: string } | undefined } | undefined>
  /** About how many bytes the JSON texts of all items have, without reading them; 0 where there is no such collection. */
  textBytes(name: string): Promise<number>
  /**
   * All items in order, as runs of raw text, from one snapshot that lasts as long as the iteration. `onHead` gets the head of that
   * snapshot before the first item.
   */
  items(name: string, onHead?: (head: Head) => void): AsyncIterable<Segment>

  /**
   * The state with that tag, a page of the collection as it was then, and a page of the changes since. All of them reject with
   * 'no-state' where the collection never was in it, or not in this history, and with 'state-expired' where it is not kept.
   */
  stateAt(name: string, tag: StateTag, options?: StateOptions): Promise<StateRead | undefined>
  pageAt(name: string, tag: StateTag, page: number, options?: PageOptions): Promise<PastRead | undefined>
  changesSince(name: string, tag: StateTag, page: number, options?: PageOptions): Promise<PastRead | undefined>

  /** Creates an empty collection. Rejects if the name is taken. */
  create(name: string, settings?: Partial<CollectionSettings>): Promise<Head>
  /** Works while a load is running, too. */
  setPrivate(name: string, isPrivate: boolean): Promise<Head>
  /** Works while a load is running, too. Resolves when history that is no longer kept is removed. */
  setRetention(name: string, retention: Partial<Retention>): Promise<Head>
  /** Makes a mirror an ordinary collection. Works while a load is running, too. */
  detach(name: string): Promise<Head>
  /** Drops the history of a collection: nobody can read an earlier state from then on. Resolves when it is removed. */
  forget(name: string): Promise<Head>
  /** As `create`; where there is one with these settings it is answered, and with others refused with 'settings-differ'. */
  ensure(name: string, settings: CollectionSettings, options?: Pick<WriteOptions, 'once'>): Promise<Created>
  /** With a state: only if the collection still is in it, else refused with 'precondition-failed'. */
  drop(name: string, state?: CollectionState, options?: Pick<WriteOptions, 'once'>): Promise<void>

  /** Each of these is one commit, durable when it resolves: all of it or, when it rejects, nothing. An empty run appends nothing. */
  append(name: string, run: ItemRun, options?: AppendOptions): Promise<Head>
  /** Replaces the item with the key of this one, in its place, or appends it. A run that does not hold one item is a RangeError. */
  put(name: string, run: ItemRun, conditions?: ItemConditions, options?: WriteOptions): Promise<Put>
  remove(name: string, key: string, conditions?: ItemConditions, options?: WriteOptions): Promise<Head>
  /** Changes as if made one after another, but all of them or none, and one state further. Without a key every put appends. */
  patch(name: string, changes: ItemChanges, options?: PatchOptions): Promise<Patched>
  /** Replaces the items that have the keys of the run; each keeps its place. Every key must be there. */
  replace(name: string, run: ItemRun): Promise<Head>
  /** Removes the items with these keys. Every key must be there. */
  delete(name: string, keys: readonly string[]): Promise<Head>

  /**
   * Begins a big write. Until it ends, other writes of this collection's items, drops and loads are refused with 'busy'.
   * `setPrivate` is not, nor `ensure` where the collection is there.
   */
  load(name: string, options?: LoadOptions): Promise<Load>

  /** All tokens in the order of their names, also those that are revoked or expired. */
  tokens(): Promise<TokenRecord[]>
  token(hash: string): Promise<TokenRecord | undefined>
  /** Rejects with 'token-exists' if the name is taken. */
  addToken(token: TokenRecord): Promise<void>
  /** From the next request on nobody gets in with it. Rejects with 'no-token' if there is none of that name. */
  revokeToken(name: string, at: number): Promise<void>

  /**
   * Remembers that a collection follows something, and how far, or with null that it does not. It is durable, changes nothing
   * of the collection, waits for no other writer and works while a load is running. A collection that is dropped follows nothing.
   */
  noteFollowing(name: string, following: Following | null): Promise<void>
  /** What is followed, in the order of the collections' names. On Citus all workers have to answer. */
  followings(): Promise<NamedFollowing[]>

  /** Checks every invariant of the storage format in one snapshot. */
  verify(onProgress?: (items: number, total: number) => void): Promise<VerifyResult>

  /** Rejects when the store cannot be read. Answers with the servers of it that are away. */
  ping(): Promise<readonly string[]>
  close(): Promise<void>
}
