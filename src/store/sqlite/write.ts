/** Changes to collections. Each function runs inside a transaction of the writer thread and leaves every invariant true. */

import { randomBytes } from 'node:crypto'
import { type ItemRun, UNPAGINATED_LIMIT } from '../../contract/item-run.ts'
import { isCollectionName, NAME_RULE } from '../../contract/name.ts'
import { type GoneMap, indexOfSlot, isGone, liveSlots, withGone } from '../gone-map.ts'
import { blocksOf } from '../rank.ts'
import {
  encodeReam,
  inflateChecked,
  joinItems,
  joinPieces,
  REAM_SIZE,
  ReamBuilder,
  type ReamBytes,
  splitItems,
} from '../ream.ts'
import type { CollectionSettings, Head } from '../store.ts'
import { ItemConflict, StoreError } from '../store-error.ts'
import { readHead } from './head.ts'
import { readPosition, sealedReams } from './read.ts'
import type { Rows } from './rows.ts'
import { readReam, readTailItems, type Shelf, type StoredReam } from './stored-ream.ts'
import { addLeftover, checkNothingInTheWay } from './sweep.ts'

const INSERT_COLLECTION = 'INSERT INTO collection (id, name, key_field, paginated, private) VALUES (?, ?, ?, ?, ?)'
const INSERT_HEAD = 'INSERT INTO head (collection_id, generation, version, epoch, next, live) VALUES (?, ?, ?, ?, ?, ?)'
const DELETE_COLLECTION = 'DELETE FROM collection WHERE id = ?'
const DELETE_HEAD = 'DELETE FROM head WHERE collection_id = ?'
const SET_PRIVATE = 'UPDATE collection SET private = ? WHERE id = ?'
const UPDATE_HEAD = `
  UPDATE head SET generation = ?, version = version + 1, epoch = epoch + ?, next = ?, live = ? WHERE collection_id = ?`
const INSERT_REAM = `
  INSERT OR REPLACE INTO ream (collection_id, generation, number, count, raw_length, crc, gone, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_TAIL = 'INSERT OR REPLACE INTO tail (collection_id, generation, position, item) VALUES (?, ?, ?, ?)'
const DELETE_TAIL = 'DELETE FROM tail WHERE collection_id = ? AND generation = ? AND position >= ? AND position < ?'
const INSERT_KEY = `
  INSERT INTO key (collection_id, generation, key, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
const DELETE_KEY = 'DELETE FROM key WHERE collection_id = ? AND generation = ? AND key = ?'
const ADD_HOLES = `
  INSERT INTO hole (collection_id, generation, level, block, gone) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET gone = gone + excluded.gone`

/** Bits of a collection's random id: an integer that SQLite keeps in six bytes and JavaScript exactly. */
const ID_BYTES = 6

const DEFAULT_SETTINGS: CollectionSettings = { keyField: null, isPaginated: true, isPrivate: false }

export function completeSettings(settings: Partial<CollectionSettings>): CollectionSettings {
  return { ...DEFAULT_SETTINGS, ...settings }
}

export function createCollection(rows: Rows, name: string, settings: Partial<CollectionSettings>): Head {
  checkName(name)
  checkNothingInTheWay(rows, name)
  if (readHead(rows, name) !== undefined)
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
  return requireHead(rows, name)
}

/** The collection is gone with this commit; its reams are left over, to be swept. */
export function dropCollection(rows: Rows, name: string): void {
  const head = writableHead(rows, name)
  rows.run(DELETE_COLLECTION, head.id)
  rows.run(DELETE_HEAD, head.id)
  addLeftover(rows, head, 0)
}

export function appendItems(rows: Rows, name: string, run: ItemRun): Head {
  const head = writableHead(rows, name)
  checkRoom(head, run.count)
  for (const [index, key] of requireKeys(head, run).entries())
    if (!insertKey(rows, head, key, head.next + index)) throw new ItemConflict(index, key)
  placeItems(rows, head, run)
  return updateHead(rows, head, { next: head.next + run.count, live: head.live + run.count, isPureAppend: true })
}

/** Puts items at the positions from `next` on: into the tail, sealing every ream that becomes full. */
function placeItems(rows: Rows, head: Head, run: ItemRun): void {
  const slot = head.next % REAM_SIZE
  const builder = new ReamBuilder(REAM_SIZE - slot)
  let number = sealedReams(head)
  for (const full of builder.add(run.text, run.count)) {
    if (number === sealedReams(head)) sealTail(rows, head, number, full.raw)
    else insertReam(rows, head, number, encodeReam(full.raw, full.count), null)
    number++
  }
  const rest = builder.rest()
  if (rest.count > 0) insertTail(rows, head, head.next + run.count - rest.count, rest.raw)
}

/** Makes a ream of the tail's items, with what completes it. Positions without an item are gone. */
export function sealTail(rows: Rows, shelf: Shelf, number: number, completion: Uint8Array): void {
  const start = number * REAM_SIZE
  const end = start + REAM_SIZE
  const begun = readTailItems(rows, shelf, start, end)
  const completing = splitItems(completion).length
  const present = new Set(begun.map(({ position }) => position))
  const missing: number[] = []
  for (let position = start; position < end - completing; position++)
    if (!present.has(position)) missing.push(position - start)
  const raw = joinPieces([joinItems(begun.map(({ item }) => item)), completion])
  insertReam(rows, shelf, number, encodeReam(raw, begun.length + completing), withGone(null, missing))
  rows.run(DELETE_TAIL, shelf.id, shelf.generation, start, end)
}

export function insertReam(rows: Rows, shelf: Shelf, number: number, ream: ReamBytes, gone: GoneMap): void {
  const { count, rawLength, crc, data } = ream
  rows.run(INSERT_REAM, shelf.id, shelf.generation, number, count, rawLength, crc, gone, data)
}

export function insertTail(rows: Rows, shelf: Shelf, from: number, raw: Uint8Array): void {
  for (const [index, item] of splitItems(raw).entries()) putTailItem(rows, shelf, from + index, item)
}

export function putTailItem(rows: Rows, shelf: Shelf, position: number, item: string): void {
  rows.run(INSERT_TAIL, shelf.id, shelf.generation, position, item)
}

/** False if the key is taken. */
export function insertKey(rows: Rows, shelf: Shelf, key: string, position: number): boolean {
  return rows.run(INSERT_KEY, shelf.id, shelf.generation, key, position) === 1
}

export function replaceItems(rows: Rows, name: string, run: ItemRun): Head {
  const head = writableHead(rows, name)
  const texts = splitItems(run.text)
  const changes = new Map<number, string>()
  for (const [index, key] of requireKeyed(head, run.keys ?? []).entries())
    changes.set(requirePosition(rows, head, key), texts[index] ?? '')
  for (const [number, slots] of byReam(changes)) {
    if (number === sealedReams(head))
      for (const [slot, item] of slots) putTailItem(rows, head, number * REAM_SIZE + slot, item)
    else rewriteReam(rows, head, head, requireReam(rows, head, number), slots)
  }
  return updateHead(rows, head, { isPureAppend: false })
}

export function deleteItems(rows: Rows, name: string, keys: readonly string[]): Head {
  const head = writableHead(rows, name)
  const changes = new Map<number, null>()
  for (const key of requireKeyed(head, keys)) {
    changes.set(requirePosition(rows, head, key), null)
    rows.run(DELETE_KEY, head.id, head.generation, key)
  }
  for (const [number, slots] of byReam(changes)) {
    if (number === sealedReams(head)) deleteFromTail(rows, head, number, slots.keys())
    else rewriteReam(rows, head, head, requireReam(rows, head, number), slots)
    for (const { level, block } of blocksOf(number))
      rows.run(ADD_HOLES, head.id, head.generation, level, block, slots.size)
  }
  return updateHead(rows, head, { live: head.live - changes.size, isPureAppend: false })
}

function deleteFromTail(rows: Rows, shelf: Shelf, number: number, slots: Iterable<number>): void {
  for (const slot of slots) {
    const position = number * REAM_SIZE + slot
    rows.run(DELETE_TAIL, shelf.id, shelf.generation, position, position + 1)
  }
}

/** Writes a ream of `from` anew on the shelf `to`: a text replaces the item in its slot, null removes it. */
export function rewriteReam(
  rows: Rows,
  from: Shelf,
  to: Shelf,
  ream: StoredReam,
  changes: ReadonlyMap<number, string | null>,
): void {
  const texts: (string | null)[] = splitItems(inflateChecked(ream))
  if (texts.length !== ream.count || liveSlots(ream.gone).length !== ream.count) throw damagedReam(from, ream.number)
  const removed: number[] = []
  for (const [slot, text] of changes) {
    if (isGone(ream.gone, slot)) throw damagedReam(from, ream.number)
    texts[indexOfSlot(ream.gone, slot)] = text
    if (text === null) removed.push(slot)
  }
  const kept = texts.filter((text) => text !== null)
  insertReam(rows, to, ream.number, encodeReam(joinItems(kept), kept.length), withGone(ream.gone, removed))
}

/** Changes by position, as changes by slot for each ream. */
export function byReam<T>(changes: ReadonlyMap<number, T>): Map<number, Map<number, T>> {
  const reams = new Map<number, Map<number, T>>()
  for (const [position, change] of changes) {
    const number = Math.floor(position / REAM_SIZE)
    let slots = reams.get(number)
    if (slots === undefined) {
      slots = new Map()
      reams.set(number, slots)
    }
    slots.set(position % REAM_SIZE, change)
  }
  return reams
}

interface HeadChange {
  readonly generation?: number
  readonly next?: number
  readonly live?: number
  readonly isPureAppend: boolean
}

export function updateHead(rows: Rows, head: Head, change: HeadChange): Head {
  const { generation = head.generation, next = head.next, live = head.live } = change
  rows.run(UPDATE_HEAD, generation, change.isPureAppend ? 0 : 1, next, live, head.id)
  return requireHead(rows, head.name)
}

export function requireHead(rows: Rows, name: string): Head {
  const head = readHead(rows, name)
  if (head === undefined)
    throw new StoreError('no-collection', `There is no collection "${name}". \`reams collections\` lists them.`)
  return head
}

/** The head of a collection that may be written to now. */
function writableHead(rows: Rows, name: string): Head {
  checkNothingInTheWay(rows, name)
  return requireHead(rows, name)
}

export function checkName(name: string): void {
  if (!isCollectionName(name))
    throw new StoreError('invalid-name', `"${name}" cannot be the name of a collection. A name has ${NAME_RULE}.`)
}

/** Refuses what would not fit into an unpaginated collection (D10). */
export function checkRoom(collection: CollectionSettings & { name: string; live: number }, count: number): void {
  if (collection.isPaginated || collection.live + count <= UNPAGINATED_LIMIT) return
  throw new StoreError(
    'unpaginated-full',
    `The collection "${collection.name}" is unpaginated and holds at most ${UNPAGINATED_LIMIT} items; with these it would have ${collection.live + count}. Make it a paginated one.`,
  )
}

function requireKeys(head: Head, run: ItemRun): readonly string[] {
  if (head.keyField === null) return []
  return requireKeyed(head, run.keys ?? [])
}

function requireKeyed(head: Head, keys: readonly string[]): readonly string[] {
  if (head.keyField !== null) return keys
  throw new StoreError('no-key-field', `The collection "${head.name}" has no key, so its items cannot be addressed.`)
}

function requirePosition(rows: Rows, head: Head, key: string): number {
  const position = readPosition(rows, head, key)
  if (position === undefined)
    throw new StoreError('no-item', `The collection "${head.name}" has no item with the key ${JSON.stringify(key)}.`)
  return position
}

function requireReam(rows: Rows, shelf: Shelf, number: number): StoredReam {
  const ream = readReam(rows, shelf, number)
  if (ream === undefined) throw damagedReam(shelf, number)
  return ream
}

function damagedReam(shelf: Shelf, number: number): StoreError {
  return new StoreError(
    'corrupt',
    `Ream ${number} of collection id ${shelf.id} is damaged. \`reams verify\` tells more.`,
  )
}
