/** Changes to items. */

import type { ItemRun } from '../../items/item-run.ts'
import { requireKeyed, requireKeys } from '../collection-rules.ts'
import { checkConditions, itemTag } from '../item-tag.ts'
import { splitItems } from '../ream.ts'
import type { Head, ItemConditions, Put } from '../store.ts'
import type { Change } from './change.ts'
import { create } from './collection.ts'
import type { Draft } from './draft.ts'
import { shownHead } from './head.ts'

export function appendItems(name: string, run: ItemRun, collectionId?: number, mayCreate = false): Change<Head> {
  return {
    keys: run.keys ?? [],
    appends: run.count,
    mayCreate,
    apply(draft) {
      if (mayCreate && draft.head === undefined) create(draft, name, {})
      draft.writableHead(collectionId)
      return shownHead(draft.append(run))
    },
  }
}

/** Replaces the one item of the run in its place, or appends it. */
export function putItem(run: ItemRun, conditions: ItemConditions, collectionId?: number): Change<Put> {
  return {
    keys: run.keys ?? [],
    touchesItems: true,
    appends: 1,
    apply(draft) {
      const head = draft.writableHead(collectionId)
      const [key = ''] = requireKeyed(head, requireKeys(head, run))
      const isNew = !isThere(draft, key, conditions)
      const put = isNew ? draft.append(run) : draft.replace([key], splitItems(run.text))
      return { head: shownHead(put), isNew, tag: itemTag(run.text) }
    },
  }
}

export function removeItem(key: string, conditions: ItemConditions, collectionId?: number): Change<Head> {
  return {
    keys: [key],
    touchesItems: true,
    apply(draft) {
      requireKeyed(draft.writableHead(collectionId), [key])
      isThere(draft, key, conditions)
      return shownHead(draft.delete([key]))
    },
  }
}

export function replaceItems(run: ItemRun): Change<Head> {
  return {
    keys: run.keys ?? [],
    touchesItems: true,
    apply(draft) {
      const head = draft.writableHead()
      const keys = requireKeyed(head, requireKeys(head, run))
      return shownHead(draft.replace(keys, splitItems(run.text)))
    },
  }
}

export function deleteItems(keys: readonly string[]): Change<Head> {
  return {
    keys,
    touchesItems: true,
    apply(draft) {
      requireKeyed(draft.writableHead(), keys)
      return shownHead(draft.delete(keys))
    },
  }
}

/** Whether there is an item with that key. Refuses where a condition does not hold. */
function isThere(draft: Draft, key: string, conditions: ItemConditions): boolean {
  const read = draft.find(key)
  checkConditions(conditions, read && (() => itemTag(Buffer.from(read()))))
  return read !== undefined
}
