/** All that the writer thread can be asked to do: one method an operation, each inside a transaction. */

import type { ItemRun } from '../../items/item-run.ts'
import type { CollectionSettings, CollectionState, Created, Head, ItemConditions, Put, TokenRecord } from '../store.ts'
import { createCollection, dropCollection, ensureCollection, setPrivate, writableHead } from './collection.ts'
import { readHead } from './head.ts'
import { LoadSteps } from './load-steps.ts'
import type { OpenReams } from './open-reams.ts'
import type { Rows } from './rows.ts'
import { sweepStep } from './sweep.ts'
import { insertToken, revokeToken } from './token.ts'
import { appendItems, deleteItems, putItem, removeItem, replaceItems } from './write.ts'

export class Operations extends LoadSteps {
  readonly #rows: Rows
  readonly #reams: OpenReams

  constructor(rows: Rows, reams: OpenReams) {
    super(rows)
    this.#rows = rows
    this.#reams = reams
  }

  create(name: string, settings: Partial<CollectionSettings>): Head {
    return createCollection(this.#rows, name, settings)
  }

  setPrivate(name: string, isPrivate: boolean): Head {
    return setPrivate(this.#rows, name, isPrivate)
  }

  ensure(name: string, settings: CollectionSettings): Created {
    return ensureCollection(this.#rows, name, settings)
  }

  drop(name: string, state: CollectionState | undefined): void {
    dropCollection(this.#rows, name, state)
  }

  append(name: string, run: ItemRun, collectionId?: number, mayCreate = false): Head {
    if (mayCreate && readHead(this.#rows, name) === undefined) createCollection(this.#rows, name, {})
    return appendItems(this.#rows, writableHead(this.#rows, name, collectionId), run)
  }

  put(name: string, run: ItemRun, conditions: ItemConditions, collectionId?: number): Put {
    return putItem(this.#rows, this.#reams, writableHead(this.#rows, name, collectionId), run, conditions)
  }

  remove(name: string, key: string, conditions: ItemConditions, collectionId?: number): Head {
    return removeItem(this.#rows, this.#reams, writableHead(this.#rows, name, collectionId), key, conditions)
  }

  addToken(token: TokenRecord): void {
    insertToken(this.#rows, token)
  }

  revokeToken(name: string, at: number): void {
    revokeToken(this.#rows, name, at)
  }

  replace(name: string, run: ItemRun): Head {
    return replaceItems(this.#rows, this.#reams, writableHead(this.#rows, name), run)
  }

  delete(name: string, keys: readonly string[]): Head {
    return deleteItems(this.#rows, this.#reams, writableHead(this.#rows, name), keys)
  }

  sweep(): boolean {
    return sweepStep(this.#rows)
  }
}
