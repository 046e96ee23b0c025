/**
 * The store that a test of what stands above the stores runs on: in SQLite, unless `onEngine` says that the suites it
 * imports run on another one.
 */

import type { Store } from '../../src/store/store.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import { changeSoundRows } from './sqlite-rows.ts'

export interface TestStore {
  readonly store: Store
  /** As `--store` takes it. */
  readonly location: string
  /** Makes all requests that the store remembers so old. */
  ageRequests(ms: number): Promise<void>
  remove(): Promise<void>
}

type OpenTestStore = () => Promise<TestStore>

let openOnEngine: OpenTestStore = openOnSqlite

export function openTestStore(): Promise<TestStore> {
  return openOnEngine()
}

/** From now on, and in this process, tests run on another engine. */
export function onEngine(open: OpenTestStore): void {
  openOnEngine = open
}

async function openOnSqlite(): Promise<TestStore> {
  const { store, path, remove } = await openSqliteForTest()
  return {
    store,
    location: path,
    async ageRequests(ms) {
      changeSoundRows(path, 'request_log', `UPDATE request_log SET at = ${Date.now() - ms}`)
    },
    remove,
  }
}
