/** The writes that every store offers, each as one of the changes: how a change is committed is up to the engine. */

import type { ItemRun } from '../items/item-run.ts'
import type { ChangeName, ChangeParameters, ChangeResult } from './changes.ts'
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
