/** The writes to one collection, as changes to its draft. */

import type { ItemRun } from '../items/item-run.ts'
import {
  checkConditions,
  checkName,
  checkSettings,
  checkState,
  completeSettings,
  existingCollection,
  itemTag,
  requireKeyed,
  requireKeys,
} from './collection-rules.ts'
import type { Change, Draft } from './draft.ts'
import { splitItems } from './ream.ts'
import type {
  AppendOptions,
  CollectionSettings,
  CollectionState,
  Created,
  Head,
  ItemConditions,
  Once,
  Put,
  WriteOptions,
} from './store.ts'

/** By the names by which an engine may send them to another thread. */
export const CHANGES = {
  create: (settings: Partial<CollectionSettings>): Change<Head> => ({
    mayCreate: true,
    apply: (draft) => create(draft, settings),
  }),

  ensure: (settings: CollectionSettings): Change<Created> => ({
    mayCreate: true,
    apply(draft) {
      if (draft.head === undefined) return { head: create(draft, settings), isNew: true }
      checkSettings(draft.head, settings)
      return { head: draft.head, isNew: false }
    },
  }),

  setPrivate: (isPrivate: boolean): Change<Head> => ({ apply: (draft) => draft.move({ isPrivate }, true) }),

  /** The collection is gone with this commit; its reams are left over, to be swept. */
  drop: (state?: CollectionState): Change<void> => ({
    isDrop: true,
    apply(draft) {
      checkState(draft.writableHead(), state)
      draft.drop()
    },
  }),

  append: (run: ItemRun, collectionId?: number, mayCreate = false): Change<Head> => ({
    keys: run.keys ?? [],
    appends: run.count,
    mayCreate,
    apply(draft) {
      if (mayCreate && draft.head === undefined) create(draft, {})
      draft.writableHead(collectionId)
      return draft.append(run)
    },
  }),

  /** Replaces the one item of the run in its place, or appends it. */
  put: (run: ItemRun, conditions: ItemConditions, collectionId?: number): Change<Put> => ({
    keys: run.keys ?? [],
    touchesItems: true,
    appends: 1,
    apply(draft) {
      const head = draft.writableHead(collectionId)
      const [key = ''] = requireKeyed(head, requireKeys(head, run))
      const isNew = !isThere(draft, key, conditions)
      const after = isNew ? draft.append(run) : draft.replace([key], splitItems(run.text))
      return { head: after, isNew, tag: itemTag(run.text) }
    },
  }),

  remove: (key: string, conditions: ItemConditions, collectionId?: number): Change<Head> => ({
    keys: [key],
    touchesItems: true,
    apply(draft) {
      requireKeyed(draft.writableHead(collectionId), [key])
      isThere(draft, key, conditions)
      return draft.delete([key])
    },
  }),

  replace: (run: ItemRun): Change<Head> => ({
    keys: run.keys ?? [],
    touchesItems: true,
    apply(draft) {
      const head = draft.writableHead()
      return draft.replace(requireKeyed(head, requireKeys(head, run)), splitItems(run.text))
    },
  }),

  delete: (keys: readonly string[]): Change<Head> => ({
    keys,
    touchesItems: true,
    apply(draft) {
      requireKeyed(draft.writableHead(), keys)
      return draft.delete(keys)
    },
  }),
}

export type ChangeName = keyof typeof CHANGES
export type ChangeParameters<Name extends ChangeName> = Parameters<(typeof CHANGES)[Name]>
export type ChangeResult<Name extends ChangeName> = ReturnType<ReturnType<(typeof CHANGES)[Name]>['apply']>

/** A change by its name. */
export function changeOf<Name extends ChangeName>(
  operation: Name,
  parameters: readonly unknown[],
): Change<ChangeResult<Name>> {
  // Whoever names it is typed: these are the parameters of this change.
  const make = CHANGES[operation] as (...parameters: readonly unknown[]) => Change<ChangeResult<Name>>
  return make(...parameters)
}

function create(draft: Draft, settings: Partial<CollectionSettings>): Head {
  checkName(draft.name)
  draft.checkObstacle()
  if (draft.head !== undefined) throw existingCollection(draft.name)
  return draft.create(completeSettings(settings))
}

/** Whether there is an item with that key. Refuses where a condition does not hold. */
function isThere(draft: Draft, key: string, conditions: ItemConditions): boolean {
  const read = draft.find(key)
  checkConditions(conditions, read && (() => itemTag(Buffer.from(read()))))
  return read !== undefined
}

export abstract class StoreWrites {
  /** Resolves when the change is durable. With `once`, only the first time. */
  protected abstract change<Name extends ChangeName>(
    name: string,
    once: Once | undefined,
    operation: Name,
    ...parameters: ChangeParameters<Name>
  ): Promise<ChangeResult<Name>>

  /** Removes what nobody can see any more of a collection that was dropped. */
  protected abstract sweepDropped(name: string): Promise<void>

  create(name: string, settings: Partial<CollectionSettings> = {}): Promise<Head> {
    return this.change(name, undefined, 'create', settings)
  }

  setPrivate(name: string, isPrivate: boolean): Promise<Head> {
    return this.change(name, undefined, 'setPrivate', isPrivate)
  }

  ensure(name: string, settings: CollectionSettings, { once }: Pick<WriteOptions, 'once'> = {}): Promise<Created> {
    return this.change(name, once, 'ensure', settings)
  }

  async drop(name: string, state?: CollectionState, { once }: Pick<WriteOptions, 'once'> = {}): Promise<void> {
    await this.change(name, once, 'drop', state)
    // It is dropped already: what cannot be removed now is left to a later time.
    await this.sweepDropped(name).catch(() => {})
  }

  append(name: string, run: ItemRun, { once, collectionId, create }: AppendOptions = {}): Promise<Head> {
    return this.change(name, once, 'append', run, collectionId, create)
  }

  async put(
    name: string,
    run: ItemRun,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Put> {
    if (run.count !== 1) throw new RangeError(`One item is put at a time, and this run holds ${run.count}.`)
    return this.change(name, once, 'put', run, conditions, collectionId)
  }

  remove(
    name: string,
    key: string,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Head> {
    return this.change(name, once, 'remove', key, conditions, collectionId)
  }

  replace(name: string, run: ItemRun): Promise<Head> {
    return this.change(name, undefined, 'replace', run)
  }

  delete(name: string, keys: readonly string[]): Promise<Head> {
    return this.change(name, undefined, 'delete', keys)
  }
}
