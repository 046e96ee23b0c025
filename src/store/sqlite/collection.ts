/** Collections themselves: made, changed, dropped, and the head that every write moves. */

import { randomBytes } from 'node:crypto'
import { UNPAGINATED_LIMIT } from '../../contract/item-run.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import type { CollectionSettings, CollectionState, Created, Head } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { readHead } from './head.ts'
import type { Rows } from './rows.ts'
import { addLeftover, checkNothingInTheWay } from './sweep.ts'

const INSERT_COLLECTION = 'INSERT INTO collection (id, name, key_field, paginated, private) VALUES (?, ?, ?, ?, ?)'
const INSERT_HEAD = 'INSERT INTO head (collection_id, generation, version, epoch, next, live) VALUES (?, ?, ?, ?, ?, ?)'
const DELETE_COLLECTION = 'DELETE FROM collection WHERE id = ?'
const DELETE_HEAD = 'DELETE FROM head WHERE collection_id = ?'
const SET_PRIVATE = 'UPDATE collection SET private = ? WHERE id = ?'
const UPDATE_HEAD = `
  UPDATE head SET generation = ?, version = ?, epoch = ?, next = ?, live = ? WHERE collection_id = ?`

/** Bits of a collection's random id: an integer that SQLite keeps in six bytes and JavaScript exactly. */
const ID_BYTES = 6

const DEFAULT_SETTINGS: CollectionSettings = { keyField: null, isPaginated: true, isPrivate: false }

export function completeSettings(settings: Partial<CollectionSettings>): CollectionSettings {
  return { ...DEFAULT_SETTINGS, ...settings }
}

export function createCollection(rows: Rows, name: string, settings: Partial<CollectionSettings>): Head {
  checkName(name)
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  if (head !== undefined)
    throw new StoreError('collection-exists', `There is a collection "${name}" already. Choose another name.`)
  insertCollection(rows, name, newCollectionId(), completeSettings(settings), 1, 0)
  return requireHead(rows, name)
}

export function newCollectionId(): number {
  return randomBytes(ID_BYTES).readUIntBE(0, ID_BYTES)
}

export function insertCollection(
  rows: Rows,
  name: string,
  id: number,
  settings: CollectionSettings,
  generation: number,
  next: number,
): void {
  const { keyField, isPaginated, isPrivate } = settings
  rows.run(INSERT_COLLECTION, id, name, keyField, Number(isPaginated), Number(isPrivate))
  rows.run(INSERT_HEAD, id, generation, 1, 0, next, next)
}

export function setPrivate(rows: Rows, name: string, isPrivate: boolean): Head {
  const head = requireHead(rows, name)
  rows.run(SET_PRIVATE, Number(isPrivate), head.id)
  return updateHead(rows, { ...head, isPrivate }, { isPureAppend: true })
}

export function ensureCollection(rows: Rows, name: string, settings: CollectionSettings): Created {
  checkName(name)
  const head = readHead(rows, name)
  if (head === undefined) return { head: createCollection(rows, name, settings), isNew: true }
  checkSettings(head, settings)
  return { head, isNew: false }
}

/** The collection is gone with this commit; its reams are left over, to be swept. */
export function dropCollection(rows: Rows, name: string, state?: CollectionState): void {
  const head = writableHead(rows, name)
  if (state !== undefined && !isInState(head, state))
    throw new StoreError('precondition-failed', `The collection "${name}" has changed since.`)
  rows.run(DELETE_COLLECTION, head.id)
  rows.run(DELETE_HEAD, head.id)
  addLeftover(rows, head, 0)
}

function isInState(head: Head, { id, generation, version }: CollectionState): boolean {
  return head.id === id && head.generation === generation && head.version === version
}

interface HeadChange {
  readonly generation?: number
  readonly next?: number
  readonly live?: number
  readonly isPureAppend: boolean
}

export function updateHead(rows: Rows, head: Head, change: HeadChange): Head {
  const { generation = head.generation, next = head.next, live = head.live } = change
  const version = head.version + 1
  const epoch = head.epoch + (change.isPureAppend ? 0 : 1)
  rows.run(UPDATE_HEAD, generation, version, epoch, next, live, head.id)
  return { ...head, generation, version, epoch, next, live }
}

export function requireHead(rows: Rows, name: string): Head {
  const head = readHead(rows, name)
  if (head === undefined) throw noCollection(name)
  return head
}

function noCollection(name: string): StoreError {
  return new StoreError('no-collection', `There is no collection "${name}". \`reams collections\` lists them.`)
}

/** The head of a collection that may be written to now; with an id, only if it is that collection. */
export function writableHead(rows: Rows, name: string, collectionId?: number): Head {
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  if (head === undefined) throw noCollection(name)
  if (collectionId !== undefined && head.id !== collectionId)
    throw new StoreError('collection-changed', `The collection "${name}" was dropped and created again meanwhile.`)
  return head
}

export function checkName(name: string): void {
  if (!isCollectionName(name))
    throw new StoreError('invalid-name', `"${name}" cannot be the name of a collection. A name has ${NAME_RULE}.`)
}

/** An item of a keyed collection without a key could never be found again. */
export function missingKeys(name: string, keyField: string): StoreError {
  return new StoreError(
    'no-key-field',
    `The collection "${name}" has the key "${keyField}", but these items were given without their keys. Make the run with itemRun(texts, { keyField: ${JSON.stringify(keyField)} }).`,
  )
}

const figure = (count: number): string => count.toLocaleString('en-US')

/** Refuses what would not fit into an unpaginated collection (D10). */
export function checkRoom(collection: CollectionSettings & { name: string; live: number }, count: number): void {
  if (collection.isPaginated || collection.live + count <= UNPAGINATED_LIMIT) return
  throw new StoreError(
    'unpaginated-full',
    `The collection "${collection.name}" is unpaginated and holds at most ${figure(UNPAGINATED_LIMIT)} items; with these it would have ${figure(collection.live + count)}. Put them into a collection of another name that is paginated.`,
  )
}

/** What a collection was created with stays; a different wish is refused with both named. */
export function checkSettings(head: Head, wanted: Partial<CollectionSettings>): void {
  const differing = (what: string, stored: string, asked: string): StoreError =>
    new StoreError(
      'settings-differ',
      `The collection "${head.name}" was created ${what} ${stored}, and this asks for ${asked}. That stays as it is: ask for the same, or choose another name.`,
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
