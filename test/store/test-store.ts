/**
 * The store that a test of what stands above the stores runs on: in SQLite, unless `onEngine` says that the suites it
 * imports run on another one.
 */

import type { Store } from '../../src/store/store.ts'
import { openSqliteForTest } from './sqlite-engine.ts'
import type { StoredRows } from './stored-rows.ts'

export interface TestStore {
  readonly store: Store
  /** As `--store` takes it. */
  readonly location: string
  /** Makes all requests that the store remembers so old. */
  ageRequests(ms: number): Promise<void>
  remove(): Promise<void>
}

/** What the tests of the stores themselves can do beside. */
export interface StoreUnderTest extends TestStore {
  /** Opens the same data once more, as another process would. */
  openAgain(options?: { readonly forgetEveryMs?: number; readonly historyBytes?: number }): Promise<Store>
  readonly rows: StoredRows
  /** Makes requests so old: those with these keys, or all that the store remembers. */
  ageRequests(ms: number, keys?: readonly string[]): Promise<void>
  /** Makes states of a collection so old: that of a version, or all. */
  ageStates(ms: number, collection: string, version?: number): Promise<void>
  /** Makes all leases as old as if the loads had stood still for long. */
  ageLeases(): Promise<void>
  /** From now on no request can be remembered under a key, until the answer is called. */
  forbidRequest(key: string): Promise<() => Promise<unknown>>
}

export interface Engine {
  open(): Promise<StoreUnderTest>
  /** Tests that it leaves out, by their titles, and why. */
  readonly leavesOut?: Readonly<Record<string, string>>
}

type OpenTestStore = () => Promise<TestStore>

let openOnEngine: OpenTestStore = openSqliteForTest

export function openTestStore(): Promise<TestStore> {
  return openOnEngine()
}

/** From now on, and in this process, tests run on another engine. */
export function onEngine(open: OpenTestStore): void {
  openOnEngine = open
}
