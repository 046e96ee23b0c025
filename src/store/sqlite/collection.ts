/** Collections themselves: made, changed, dropped, and the head that every write moves. */

import {
  checkIdentity,
  checkName,
  checkSettings,
  checkState,
  completeSettings,
  existingCollection,
  firstCommit,
  missingCollection,
  movedHead,
  newId,
} from '../collection-rules.ts'
import type { CollectionSettings, CollectionState, Created, Head } from '../store.ts'
import { readHead } from './head.ts'
import type { Rows } from './rows.ts'
import { addLeftover, checkNothingInTheWay } from './sweep.ts'

const INSERT_COLLECTION = 'INSERT INTO collection (id, name, key_field, paginated, private) VALUES (?, ?, ?, ?, ?)'
const INSERT_HEAD = `
  INSERT INTO head (collection_id, generation, version, commit_id, full_pages_id, next, live, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const DELETE_COLLECTION = 'DELETE FROM collection WHERE id = ?'
const DELETE_HEAD = 'DELETE FROM head WHERE collection_id = ?'
const SET_PRIVATE = 'UPDATE collection SET private = ? WHERE id = ?'
const UPDATE_HEAD = `
  UPDATE head SET generation = ?, version = ?, commit_id = ?, full_pages_id = ?, next = ?, live = ?, changed_at = ?
  WHERE collection_id = ?`

export function createCollection(rows: Rows, name: string, settings: Partial<CollectionSettings>): Head {
  checkName(name)
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  if (head !== undefined) throw existingCollection(name)
  insertCollection(rows, name, newId(), completeSettings(settings), 1, 0)
  return requireHead(rows, name)
}

export function insertCollection(
  rows: Rows,
  name: string,
  id: number,
  settings: CollectionSettings,
  generation: number,
  next: number,
  live: number = next,
): void {
  const { keyField, isPaginated, isPrivate } = settings
  rows.run(INSERT_COLLECTION, id, name, keyField, Number(isPaginated), Number(isPrivate))
  const { version, commitId, fullPagesId } = firstCommit()
  rows.run(INSERT_HEAD, id, generation, version, commitId, fullPagesId, next, live, Date.now())
}

export function setPrivate(rows: Rows, name: string, isPrivate: boolean): Head {
  const head = requireHead(rows, name)
  rows.run(SET_PRIVATE, Number(isPrivate), head.id)
  return updateHead(rows, head, { isPrivate }, true)
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
  checkState(head, state)
  rows.run(DELETE_COLLECTION, head.id)
  rows.run(DELETE_HEAD, head.id)
  addLeftover(rows, head, 0)
}

export function updateHead(rows: Rows, head: Head, change: Partial<Head>, isPureAppend: boolean): Head {
  const moved = movedHead(head, change, isPureAppend)
  const { generation, version, commitId, fullPagesId, next, live } = moved
  rows.run(UPDATE_HEAD, generation, version, commitId, fullPagesId, next, live, Date.now(), head.id)
  return moved
}

export function requireHead(rows: Rows, name: string): Head {
  const head = readHead(rows, name)
  if (head === undefined) throw missingCollection(name)
  return head
}

/** The head of a collection that may be written to now; with an id, only if it is that collection. */
export function writableHead(rows: Rows, name: string, collectionId?: number): Head {
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  if (head === undefined) throw missingCollection(name)
  checkIdentity(head, collectionId)
  return head
}
