/** Opens the store that a command names: the only place that picks an engine. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqliteStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { Failure } from './failure.ts'

export interface OpenStoreOptions {
  /** Make the store if there is none. Default false. */
  readonly create?: boolean
}

/** `location` is a path; a URL of PostgreSQL is kept free for later. */
export async function openStore(location: string, { create = false }: OpenStoreOptions = {}): Promise<Store> {
  if (/^postgres(ql)?:/i.test(location))
    throw new Failure(2, 'A store in PostgreSQL is not supported yet. Name a file instead, such as --store reams.db.')
  if (create && !existsSync(dirname(location)))
    throw new Failure(2, `There is no directory ${dirname(location)} for the store ${location}. Make it first.`)
  return openSqliteStore({ path: location, create })
}

/** Opens a store, uses it, and closes it whatever happens. */
export async function withStore<T>(
  location: string,
  options: OpenStoreOptions,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(location, options)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
