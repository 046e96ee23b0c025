/** Collections themselves: made, changed, dropped. */

import {
  checkName,
  checkSettings,
  checkState,
  completeSettings,
  existingCollection,
  firstCommit,
  movedHead,
  newId,
} from '../collection-rules.ts'
import type { CollectionSettings, CollectionState, Created, Head } from '../store.ts'
import type { Change } from './change.ts'
import type { Draft } from './draft.ts'
import { placeOf, type StoredHead, shownHead } from './head.ts'

/** The head of a collection that begins. */
export function newHead(name: string, settings: CollectionSettings): StoredHead {
  const { keyField, isPaginated, isPrivate } = settings
  const state = { generation: 1, ...firstCommit(), next: 0, live: 0, isGuarded: false }
  return { name, place: placeOf(name), id: newId(), shelf: newId(), keyField, isPaginated, isPrivate, ...state }
}

export function createCollection(name: string, settings: Partial<CollectionSettings>): Change<Head> {
  return { mayCreate: true, apply: (draft) => create(draft, name, settings) }
}

export function create(draft: Draft, name: string, settings: Partial<CollectionSettings>): Head {
  checkName(name)
  draft.checkObstacle()
  if (draft.head !== undefined) throw existingCollection(name)
  const head = newHead(name, completeSettings(settings))
  draft.setHead(head)
  return shownHead(head)
}

export function ensureCollection(name: string, settings: CollectionSettings): Change<Created> {
  return {
    mayCreate: true,
    apply(draft) {
      checkName(name)
      if (draft.head === undefined) return { head: create(draft, name, settings), isNew: true }
      checkSettings(draft.head, settings)
      return { head: shownHead(draft.head), isNew: false }
    },
  }
}

export function setPrivate(isPrivate: boolean): Change<Head> {
  return {
    apply(draft) {
      const changed = movedHead(draft.requireHead(), { isPrivate }, true)
      draft.setHead(changed)
      return shownHead(changed)
    },
  }
}

/** The collection is gone with this commit; its reams are left over, to be swept. */
export function dropCollection(state: CollectionState | undefined): Change<void> {
  return {
    isDrop: true,
    apply(draft) {
      checkState(draft.writableHead(), state)
      draft.setHead(undefined)
    },
  }
}
