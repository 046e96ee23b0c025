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
import { deleteHead, insertHead, putHead, readHead } from './head.ts'
import type { Rows } from './rows.ts'
import { addLeftover, checkNothingInTheWay } from './sweep.ts'

export function createCollection(rows: Rows, name: string, settings: Partial<CollectionSettings>): Head {
  checkName(name)
  const head = readHead(rows, name)
  checkNothingInTheWay(rows, name, head)
  if (head !== undefined) throw existingCollection(name)
  return insertCollection(rows, name, {
    id: newId(),
    settings: completeSettings(settings),
    generation: 1,
    next: 0,
    live: 0,
  })
}

/** What a collection begins with. */
export interface NewCollection {
  readonly id: number
  readonly settings: CollectionSettings
  readonly generation: number
  readonly next: number
  readonly live: number
}

export function insertCollection(rows: Rows, name: string, { settings, ...content }: NewCollection): Head {
  const { keyField, isPaginated, isPrivate } = settings
  const head = { name, keyField, isPaginated, isPrivate, ...firstCommit(), ...content }
  insertHead(rows, head)
  return head
}

export function setPrivate(rows: Rows, name: string, isPrivate: boolean): Head {
  return updateHead(rows, requireHead(rows, name), { isPrivate }, true)
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
  deleteHead(rows, head)
  addLeftover(rows, head, 0)
}

export function updateHead(rows: Rows, head: Head, change: Partial<Head>, isPureAppend: boolean): Head {
  const moved = movedHead(head, change, isPureAppend)
  putHead(rows, moved)
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
