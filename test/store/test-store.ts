/**
 * The store that a test of what stands above the stores runs on: in SQLite, unless `onEngine` says that the suites it
 * imports run on another one.
 */

import type { Store } from '../../src/store/store.ts'
import { openSqliteForTest } from './sqlite-engine.ts'

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
  /** Runs SQL on the tables behind the store's back. */
  execute(sql: string, values?: (string | Uint8Array)[]): Promise<unknown[][]>
  /** The condition for the rows of a collection, in any table but `head`. */
  rowsOf(collection: string): string
  /** What its tables have that those of other engines have not, or call otherwise. */
  readonly columns: { readonly ids: string; readonly generation: string; readonly sum: string }
  /** Makes requests so old, of all that the store remembers or of those that meet a condition. */
  ageRequests(ms: number, condition?: string): Promise<void>
  /** Makes the states so old that meet a condition. */
  ageStates(ms: number, condition: string): Promise<void>
  /** Makes all leases as old as if the loads had stood still for long. */
  ageLeases(): Promise<void>
  /** From now on no request can be remembered under a key, until the answer is called. */
  forbidRequest(key: string): Promise<() => Promise<unknown>>
}

export interface Engine {
  open(): Promise<StoreUnderTest>
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
