/** How a store is opened: the only place that picks an engine. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeEmptyStore } from '../store/sqlite/file/store-file.ts'
import type { Head, Store } from '../store/store.ts'
import type { DataLocation } from './data-location.ts'
import { Failure } from './failure.ts'

interface OpenStoreOptions {
  /** Make the store if there is none. Default false. */
  readonly create?: boolean
  /** Set by the server. Other commands do not know the server's limit, so they enforce none, and create no reserve file. */
  readonly upkeep?: StoreUpkeep
  /** How many processes such as this one share the memory. Default 1. */
  readonly workers?: number
}

interface StoreUpkeep {
  /** Undefined: the default of the engine. */
  readonly historyBytes: number | undefined
}

export async function openStore(location: DataLocation, options: OpenStoreOptions = {}): Promise<Store> {
  if (!location.isDatabase) return openFile(location.reveal(), options)
  // Either engine takes a while to load, and a command may need neither.
  const { openPostgresStore } = await import('../store/postgres/open.ts')
  return openPostgresStore({ url: location.reveal(), ...engineOptions(options) })
}

async function openFile(path: string, options: OpenStoreOptions): Promise<Store> {
  const { create = false, upkeep, workers = 1 } = options
  if (create && !existsSync(dirname(path)))
    throw new Failure(2, `There is no directory ${dirname(path)} for the store ${path}. Create it first.`)
  const { openSqliteStore } = await import('../store/sqlite/open.ts')
  return openSqliteStore({ path, workers, keepReserve: upkeep !== undefined, ...engineOptions(options) })
}

function engineOptions({ create = false, upkeep }: OpenStoreOptions) {
  const historyBytes = upkeep === undefined ? Number.POSITIVE_INFINITY : upkeep.historyBytes
  return { create, ...(historyBytes !== undefined && { historyBytes }) }
}

/** Opens a store, uses it, and closes it whatever happens. A file that was made for nothing is removed. */
export async function withStore<T>(
  location: DataLocation,
  options: OpenStoreOptions,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const isNew = !location.isDatabase && !existsSync(location.reveal())
  const store = await openStore(location, options)
  let isUsed = false
  try {
    const result = await use(store)
    isUsed = true
    return result
  } finally {
    await store.close()
    if (isNew && !isUsed) removeEmptyStore(location.reveal())
  }
}

/** More names than this would hide the message. */
const NAMES_SHOWN = 10

export async function existingHead(store: Store, name: string): Promise<Head> {
  const head = await store.head(name)
  if (head !== undefined) return head
  const names = (await store.reachable()).heads.map((collection) => collection.name)
  throw new Failure(2, `There is no collection "${name}". ${whatThereIs(names)}`)
}

function whatThereIs(names: readonly string[]): string {
  if (names.length === 0) return 'The store is empty; reams import NAME FILE creates a collection.'
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  if (names.length > NAMES_SHOWN) return `There are ${shown} and others; see "reams collections".`
  return `There ${names.length === 1 ? 'is' : 'are'} ${shown}.`
}
