/** Opens the store that a command names: the only place that picks an engine. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqliteStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { Failure } from './failure.ts'
import type { StoreLocation } from './store-location.ts'

export interface OpenStoreOptions {
  /** Make the store if there is none. Default false. */
  readonly create?: boolean
}

export async function openStore(location: StoreLocation, { create = false }: OpenStoreOptions = {}): Promise<Store> {
  if (!location.isDatabase) return openFile(location.reveal(), create)
  // The driver takes a while to load, and only who has a database needs it.
  const { openPostgresStore } = await import('../store/postgres/open.ts')
  return openPostgresStore({ url: location.reveal(), create })
}

async function openFile(path: string, create: boolean): Promise<Store> {
  if (create && !existsSync(dirname(path)))
    throw new Failure(2, `There is no directory ${dirname(path)} for the store ${path}. Make it first.`)
  return openSqliteStore({ path, create })
}

/** Opens a store, uses it, and closes it whatever happens. */
export async function withStore<T>(
  location: StoreLocation,
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
