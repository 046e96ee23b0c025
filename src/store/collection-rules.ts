/** What is true of a collection whatever engine keeps it: its settings, what it takes, and how it refuses the rest. */

import { hash, randomBytes } from 'node:crypto'
import { keyFieldsFlaw } from '../contract/key.ts'
import { isCollectionName, NAME_RULE } from '../contract/name.ts'
import { fullPages, UNPAGINATED_LIMIT } from '../contract/page.ts'
import type { ItemRun } from '../items/item-run.ts'
import type { CollectionSettings, CollectionState, Head, ItemConditions, Origin, Retention } from './store.ts'
import { StoreError } from './store-error.ts'

/** Bytes of a random id: an integer that JavaScript keeps exactly. */
const ID_BYTES = 6

export function newId(): number {
  return randomBytes(ID_BYTES).readUIntBE(0, ID_BYTES)
}

/** Stands for the id of a collection where there is none, as after a drop. */
export const NO_COLLECTION = 0

export const DEFAULT_RETENTION: Retention = { retentionMs: 24 * 60 * 60 * 1000, retentionBytes: 1024 ** 3 }

/** The head of a collection that begins. */
export function newHead(name: string, { keyField, isPaginated, isPrivate }: CollectionSettings, id = newId()): Head {
  const commitId = newCommitId()
  const state = { generation: 1, version: 1, commitId, fullPagesId: commitId, next: 0, live: 0, changes: 0 }
  return { name, id, keyField, isPaginated, isPrivate, ...state, historyFrom: 1, ...DEFAULT_RETENTION, origin: null }
}

/** The head after a commit that moves it. A change that is no pure append may touch any page. */
export function movedHead(head: Head, change: Partial<Head>, isPureAppend: boolean): Head {
  const moved = { ...head, ...change, version: head.version + 1, commitId: newCommitId() }
  const keepsFullPages = isPureAppend && fullPages(moved.live) === fullPages(head.live)
  return keepsFullPages ? moved : { ...moved, fullPagesId: moved.commitId }
}

const COMMIT_ID_BYTES = 8
/** Random bytes for many ids: one call for each id would take an eighth of the time of a small write. */
let randomPool = Buffer.alloc(0)

function newCommitId(): string {
  if (randomPool.length === 0) randomPool = randomBytes(1_024 * COMMIT_ID_BYTES)
  const bytes = randomPool.subarray(0, COMMIT_ID_BYTES)
  randomPool = randomPool.subarray(COMMIT_ID_BYTES)
  return bytes.toString('base64url')
}

const DEFAULT_SETTINGS: CollectionSettings = { keyField: null, isPaginated: true, isPrivate: false }

/** The settings of a collection that begins. */
export function completeSettings(settings: Partial<CollectionSettings>): CollectionSettings {
  const { keyField = null } = settings
  const flaw = keyField === null ? undefined : keyFieldsFlaw(keyField)
  if (flaw !== undefined) throw new StoreError('invalid-key-fields', `Invalid key "${keyField}": ${flaw}.`)
  return { ...DEFAULT_SETTINGS, ...settings }
}

export function checkName(name: string): void {
  if (!isCollectionName(name))
    throw new StoreError('invalid-name', `Invalid collection name "${name}": expected ${NAME_RULE}.`)
}

export function missingCollection(name: string): StoreError {
  return new StoreError('no-collection', `There is no collection "${name}". \`reams collections\` lists them.`)
}

export function existingCollection(name: string): StoreError {
  return new StoreError('collection-exists', `There is already a collection "${name}". Choose another name.`)
}

/** Without a name: it is not known which collection it is, or whether the reader may know of it. */
export function damagedCollection(name: string | undefined, what: string): StoreError {
  const where = name === undefined ? 'The store' : `The collection "${name}"`
  return new StoreError(
    'corrupt',
    `${where} is damaged. ${what} \`reams verify\` has details; restore the store from a backup.`,
    { collection: name },
  )
}

export function existingToken(name: string): StoreError {
  return new StoreError('token-exists', `There is already a token "${name}". Choose another name.`)
}

export function missingToken(name: string): StoreError {
  return new StoreError('no-token', `There is no token "${name}". \`reams token list\` lists them.`)
}

/** Refuses another collection than the one with that id. */
export function checkIdentity(head: Head, id: number | undefined): void {
  if (id !== undefined && head.id !== id)
    throw new StoreError(
      'collection-changed',
      `The collection "${head.name}" was dropped and created again in the meantime.`,
    )
}

/** Refuses a collection that is no longer in that state. */
export function checkState(head: Head, state: CollectionState | undefined): void {
  if (state === undefined) return
  if (head.id !== state.id || head.commitId !== state.commitId)
    throw new StoreError('precondition-failed', `The collection "${head.name}" has changed since.`)
}

/** Refuses a mirror, but for a write that brings it on from where it is. */
export function checkOrigin(head: Pick<Head, 'name' | 'origin'>, from: Origin | undefined): void {
  const { name, origin } = head
  if (from === undefined) {
    if (origin !== null) throw mirrored(name, origin)
  } else if (origin?.url !== from.url || origin.position !== from.position)
    throw new StoreError('precondition-failed', `The mirror "${name}" is not where it was.`)
}

export function mirrored(name: string, { url }: Origin): StoreError {
  return new StoreError(
    'mirror',
    `The collection "${name}" is a mirror of ${url}. Write there, or make it a collection of its own: \`reams set ${name} --detach\`.`,
  )
}

/** The same for a load, which may begin a collection: with null there must be none. */
export function checkLoadState(name: string, head: Head | undefined, state: CollectionState | null | undefined): void {
  if (state === undefined) return
  if (state === null) {
    if (head !== undefined) throw existingCollection(name)
  } else if (head === undefined) throw missingCollection(name)
  else checkState(head, state)
}

/** The keys of a run for a collection; none if it has no key. */
export function requireKeys(head: Pick<Head, 'name' | 'keyField'>, run: ItemRun): readonly string[] {
  if (head.keyField === null) return []
  if (run.keys?.length === run.count) return run.keys
  // An item of a keyed collection without a key could never be found again.
  throw new StoreError(
    'no-key-field',
    `The collection "${head.name}" has the key "${head.keyField}", but these items were passed without their keys. Create the run with itemRun(texts, { keyField: ${JSON.stringify(head.keyField)} }).`,
  )
}

/** Keys mean something only to a collection that has one. */
export function requireKeyed(head: Pick<Head, 'name' | 'keyField'>, keys: readonly string[]): readonly string[] {
  if (head.keyField !== null) return keys
  throw new StoreError('no-key-field', `The collection "${head.name}" has no key, so its items cannot be addressed.`)
}

export function missingItem(head: Head, key: string): StoreError {
  return new StoreError('no-item', `The collection "${head.name}" has no item with the key ${JSON.stringify(key)}.`)
}

const figure = (count: number): string => count.toLocaleString('en-US')

/** Refuses what would not fit into an unpaginated collection (D10). */
export function checkFits(collection: CollectionSettings & { name: string; live: number }, count: number): void {
  if (collection.isPaginated || collection.live + count <= UNPAGINATED_LIMIT) return
  throw new StoreError(
    'unpaginated-full',
    `The collection "${collection.name}" is unpaginated and holds at most ${figure(UNPAGINATED_LIMIT)} items; with these it would have ${figure(collection.live + count)}. Use another collection, with pages.`,
  )
}

/** What a collection was created with stays; a different wish is refused with both named. */
export function checkSettings(head: Head, wanted: Partial<CollectionSettings>): void {
  const differing = (what: string, stored: string, asked: string): StoreError =>
    new StoreError(
      'settings-differ',
      `The collection "${head.name}" was created ${what} ${stored}, and this asks for ${asked}. That cannot be changed: ask for the same, or choose another name.`,
    )
  const { keyField, isPaginated, isPrivate } = wanted
  if (keyField !== undefined && keyField !== head.keyField)
    throw differing('with', keyWords(head.keyField), keyWords(keyField))
  if (isPaginated !== undefined && isPaginated !== head.isPaginated)
    throw differing('as', pagedWords(head.isPaginated), pagedWords(isPaginated))
  if (isPrivate !== undefined && isPrivate !== head.isPrivate)
    throw new StoreError(
      'settings-differ',
      `The collection "${head.name}" is ${privacyWords(head.isPrivate)}, and this asks for ${privacyWords(isPrivate)}. \`reams set ${head.name} --${privacyWords(isPrivate)}\` changes that.`,
    )
}

const keyWords = (keyField: string | null): string => (keyField === null ? 'no key' : `the key "${keyField}"`)
const pagedWords = (isPaginated: boolean): string => (isPaginated ? 'paginated' : 'unpaginated')
const privacyWords = (isPrivate: boolean): string => (isPrivate ? 'private' : 'public')

/** A strong entity tag. */
export function itemTag(text: Uint8Array): string {
  return `"${hash('sha256', text, 'base64url')}"`
}

/** `readTag` is undefined where there is no item, and called only where a condition names tags: it may cost something. */
export function checkConditions({ ifMatch, ifNoneMatch }: ItemConditions, readTag: (() => string) | undefined): void {
  if (ifMatch !== undefined && !names(ifMatch, readTag))
    throw new StoreError('precondition-failed', 'The item does not, or no longer, match the condition.')
  if (ifNoneMatch !== undefined && names(ifNoneMatch, readTag))
    throw new StoreError('precondition-failed', 'The item exists, and the condition excludes that.')
}

function names(tags: readonly string[] | '*', readTag: (() => string) | undefined): boolean {
  return readTag !== undefined && (tags === '*' || tags.includes(readTag()))
}
