/** All that the writer thread can be asked to do: one method an operation, each inside a transaction. */

import type { ItemRun } from '../../contract/item-run.ts'
import type { CollectionSettings, Head } from '../store.ts'
import { createCollection, dropCollection, setPrivate } from './collection.ts'
import { LoadSteps } from './load-steps.ts'
import { sweepStep } from './sweep.ts'
import { appendItems, deleteItems, replaceItems } from './write.ts'

export class Operations extends LoadSteps {
  readonly #rows

  constructor(rows: ConstructorParameters<typeof LoadSteps>[0]) {
    super(rows)
    this.#rows = rows
  }

  create(name: string, settings: Partial<CollectionSettings>): Head {
    return createCollection(this.#rows, name, settings)
  }

  setPrivate(name: string, isPrivate: boolean): Head {
    return setPrivate(this.#rows, name, isPrivate)
  }

  drop(name: string): void {
    dropCollection(this.#rows, name)
  }

  append(name: string, run: ItemRun): Head {
    return appendItems(this.#rows, name, run)
  }

  replace(name: string, run: ItemRun): Head {
    return replaceItems(this.#rows, name, run)
  }

  delete(name: string, keys: readonly string[]): Head {
    return deleteItems(this.#rows, name, keys)
  }

  sweep(): boolean {
    return sweepStep(this.#rows)
  }
}
