/** The writes to one collection, each a change to its draft. */

import type { ItemRun } from '../items/item-run.ts'
import { StoreActivity } from './activity.ts'
import {
  checkConditions,
  checkFits,
  checkName,
  checkSettings,
  checkState,
  completeSettings,
  existingCollection,
  itemTag,
  missingItem,
  requireKeyed,
  requireKeys,
} from './collection-rules.ts'
import type { Change, Draft } from './draft.ts'
import { itemRange, itemStarts, itemText, splitItems } from './item-text.ts'
import type {
  AppendOptions,
  CollectionSettings,
  CollectionState,
  Created,
  Head,
  ItemChanges,
  ItemConditions,
  Once,
  Patched,
  PatchOptions,
  Put,
  Retention,
  WriteOptions,
} from './store.ts'

const CHANGES = {
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

  setRetention: (retention: Partial<Retention>): Change<Head> => ({ apply: (draft) => draft.setRetention(retention) }),

  detach: (): Change<Head> => ({ apply: (draft) => draft.move({ origin: null }, true) }),

  forget: (): Change<Head> => ({ apply: (draft) => draft.forget() }),

  /** The collection is gone with this commit; its reams are left over, to be swept. */
  drop: (state?: CollectionState): Change<void> => ({
    isDrop: true,
    apply(draft) {
      draft.checkObstacle()
      checkState(draft.requireHead(), state)
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

  patch: (changes: ItemChanges, options: Omit<PatchOptions, 'once'> = {}): Change<Patched> => ({
    keys: [...(changes.puts.keys ?? []), ...changes.steps.filter((key) => key !== null)],
    touchesItems: true,
    appends: changes.puts.count,
    mayCreate: options.create === true,
    apply(draft) {
      if (options.create && draft.head === undefined) create(draft, {})
      const head = draft.writableHead(options.collectionId, options.origin?.from)
      checkState(head, options.state)
      return patch(draft, head, changes, options)
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

/** A change by its name and what it takes: data that can be sent to another thread. */
export type ChangeCall = {
  [Name in keyof typeof CHANGES]: readonly [Name, ...Parameters<(typeof CHANGES)[Name]>]
}[keyof typeof CHANGES]

/** The memory of a call that belongs to the store. */
export function memoryOf([name, first]: ChangeCall): ArrayBuffer[] {
  const run = name === 'append' ? first : name === 'patch' ? first.puts : undefined
  return run?.isTransferred === true && run.text.buffer instanceof ArrayBuffer ? [run.text.buffer] : []
}

export function changeOf([name, ...parameters]: ChangeCall): Change<unknown> {
  // The type of the call says that these are the parameters of this change.
  const make = CHANGES[name] as (...parameters: readonly unknown[]) => Change<unknown>
  return make(...parameters)
}

function create(draft: Draft, settings: Partial<CollectionSettings>): Head {
  checkName(draft.name)
  draft.checkObstacle()
  if (draft.head !== undefined) throw existingCollection(draft.name)
  return draft.create(completeSettings(settings))
}

/** Changes of one kind in a row. Its puts are those from `from` up to `to` of the request, one after the other. */
interface Stretch {
  readonly kind: 'append' | 'replace' | 'delete'
  readonly keys: string[]
  readonly from: number
  to: number
}

/** All is looked at before anything is done. */
function patch(draft: Draft, head: Head, { puts, steps }: ItemChanges, options: PatchOptions): Patched {
  const { skipMissing = false, skipSame = false } = options
  const [keys, starts] = [requireKeys(head, puts), itemStarts(puts.text)]
  const textOf = (put: number) => itemText(puts.text, starts, put)
  /** The put that the changes before this one made last with each key; undefined if they deleted the item. */
  const changed = new Map<string, number | undefined>()
  const find = (key: string): (() => string) | undefined => {
    const put = changed.get(key)
    if (put !== undefined) return () => textOf(put)
    return changed.has(key) ? undefined : draft.find(key)
  }
  const stretches: Stretch[] = []
  const counts = { append: 0, replace: 0, delete: 0 }
  const add = (kind: Stretch['kind'], key: string | undefined, put: number): void => {
    const last = stretches.at(-1)
    const isNext = last?.kind === kind && (kind === 'delete' || last.to === put)
    const stretch = isNext ? last : { kind, keys: [], from: put, to: put }
    if (!isNext) stretches.push(stretch)
    if (key !== undefined) stretch.keys.push(key)
    stretch.to = put + 1
    counts[kind]++
  }
  let put = 0
  for (const deleted of steps) {
    const key = deleted ?? keys[put]
    const read = key === undefined ? undefined : find(key)
    if (key !== undefined) changed.set(key, deleted === null ? put : undefined)
    if (deleted === null) {
      const own = put++
      if (skipSame && read?.() === textOf(own)) continue
      const live = head.live + counts.append - counts.delete
      if (read === undefined) checkFits({ ...head, live }, 1)
      add(read === undefined ? 'append' : 'replace', key, own)
    } else if (requireKeyed(head, [deleted]) && read !== undefined) add('delete', deleted, put)
    else if (!skipMissing) throw missingItem(head, deleted)
  }
  const isPureAppend = counts.replace + counts.delete === 0
  const after = draft.inOneStep(
    isPureAppend,
    () => {
      for (const { kind, keys, from, to } of stretches) {
        if (kind === 'append') draft.append({ count: to - from, text: itemRange(puts.text, starts, from, to), keys })
        else if (kind === 'replace') draft.replace(keys, splitItems(itemRange(puts.text, starts, from, to)))
        else draft.delete(keys)
      }
    },
    options.origin?.to,
  )
  return { head: after, appended: counts.append, replaced: counts.replace, deleted: counts.delete }
}

/** Whether there is an item with that key. Refuses where a condition does not hold. */
function isThere(draft: Draft, key: string, conditions: ItemConditions): boolean {
  const read = draft.find(key)
  checkConditions(conditions, read && (() => itemTag(Buffer.from(read()))))
  return read !== undefined
}

/** The writes that every store offers, each as one of the changes: how a change is committed is up to the engine. */
export abstract class StoreWrites {
  readonly activity = new StoreActivity()

  /** Resolves with what the change returns when it is durable. With `once`, only the first time. */
  protected abstract change<T>(name: string, once: Once | undefined, ...change: ChangeCall): Promise<T>

  /** Removes what nobody can see any more of a collection that was dropped. */
  protected abstract sweepDropped(name: string): Promise<void>

  /** Removes what is not kept any more of the history of a collection. */
  protected abstract forgetOld(name: string): Promise<void>

  async #change<T>(name: string, once: Once | undefined, ...change: ChangeCall): Promise<T> {
    this.activity.waitingChanges++
    try {
      return await this.change(name, once, ...change)
    } finally {
      this.activity.waitingChanges--
    }
  }

  create(name: string, settings: Partial<CollectionSettings> = {}): Promise<Head> {
    return this.#change(name, undefined, 'create', settings)
  }

  setPrivate(name: string, isPrivate: boolean): Promise<Head> {
    return this.#change(name, undefined, 'setPrivate', isPrivate)
  }

  async setRetention(name: string, retention: Partial<Retention>): Promise<Head> {
    const head = await this.#change<Head>(name, undefined, 'setRetention', retention)
    await this.forgetOld(name)
    return head
  }

  detach(name: string): Promise<Head> {
    return this.#change(name, undefined, 'detach')
  }

  async forget(name: string): Promise<Head> {
    const head = await this.#change<Head>(name, undefined, 'forget')
    await this.forgetOld(name)
    return head
  }

  ensure(name: string, settings: CollectionSettings, { once }: Pick<WriteOptions, 'once'> = {}): Promise<Created> {
    return this.#change(name, once, 'ensure', settings)
  }

  async drop(name: string, state?: CollectionState, { once }: Pick<WriteOptions, 'once'> = {}): Promise<void> {
    await this.#change(name, once, 'drop', state)
    // It is dropped already: what cannot be removed now is left to a later time.
    await this.sweepDropped(name).catch(() => {})
  }

  append(name: string, run: ItemRun, { once, collectionId, create }: AppendOptions = {}): Promise<Head> {
    return this.#change(name, once, 'append', run, collectionId, create)
  }

  async put(
    name: string,
    run: ItemRun,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Put> {
    if (run.count !== 1) throw new RangeError(`One item is put at a time, and this run holds ${run.count}.`)
    return this.#change(name, once, 'put', run, conditions, collectionId)
  }

  remove(
    name: string,
    key: string,
    conditions: ItemConditions = {},
    { once, collectionId }: WriteOptions = {},
  ): Promise<Head> {
    return this.#change(name, once, 'remove', key, conditions, collectionId)
  }

  patch(name: string, changes: ItemChanges, options: PatchOptions = {}): Promise<Patched> {
    const { once, ...others } = options
    return this.#change(name, once, 'patch', changes, others)
  }

  replace(name: string, run: ItemRun): Promise<Head> {
    return this.#change(name, undefined, 'replace', run)
  }

  delete(name: string, keys: readonly string[]): Promise<Head> {
    return this.#change(name, undefined, 'delete', keys)
  }
}
