/** A service on a real store of its own, both gone when the test is over. */

import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { createService, type ServiceOptions } from '../../src/service/create-service.ts'
import type { CollectionSettings, Store, TokenRecord } from '../../src/store/store.ts'
import { openTestStore } from '../store/test-store.ts'

export const BASE = 'http://127.0.0.1:8080'

/** What a browser accepts when it navigates. */
export const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Of all requests, so that two answers can be compared. */
export const SAME_ID = { 'X-Request-Id': 'test' }

export interface OpenService {
  readonly store: Store
  /** Asks the service for a path, or for a whole URL. */
  readonly get: (target: string, headers?: Record<string, string>, method?: string) => Promise<Response>
  /** Asks another service on the same store. */
  readonly again: (options: Partial<ServiceOptions>) => OpenService['get']
}

export interface Closer {
  readonly after: (close: () => Promise<void>) => void
}

export async function openService(t: Closer, options: Partial<ServiceOptions> = {}): Promise<OpenService> {
  const { store, remove } = await openTestStore()
  t.after(remove)
  const again: OpenService['again'] = (otherOptions) => {
    const { fetch } = createService({ store, ...otherOptions })
    return async (target, given = {}, method = 'GET') => {
      const headers = { ...SAME_ID, ...given }
      return fetch(new Request(target.startsWith('/') ? BASE + target : target, { headers, method }))
    }
  }
  return { store, get: again(options), again }
}

/** The same for all tests of a suite. To be called where the suite is described. */
export function sharedService(
  fillStore: (store: Store) => Promise<void>,
  options: Partial<ServiceOptions> = {},
): () => OpenService {
  return shared(async (t) => {
    const service = await openService(t, options)
    await fillStore(service.store)
    return service
  })
}

/** What is opened once for all tests of a suite, and closed behind them. */
export function shared<T>(open: (t: Closer) => Promise<T>): () => T {
  const resources = new AsyncDisposableStack()
  let opened: T | undefined
  before(async () => {
    opened = await open({ after: (close) => resources.defer(close) })
  })
  after(() => resources.disposeAsync())
  return () => opened ?? assert.fail('It is opened before the first test, not before.')
}

/** Headers with a new token. */
export async function tokenFor(store: Store, scopes: readonly string[], change: Partial<TokenRecord> = {}) {
  const token = `reams_${randomBytes(32).toString('base64url')}`
  const record = { hash: hash('sha256', token, 'hex'), scopes, createdAt: 0, expiresAt: null, revokedAt: null }
  await store.addToken({ name: randomBytes(6).toString('hex'), ...record, ...change })
  return { Authorization: `Bearer ${token}` }
}

/** Creates a collection with these items, keyed by `id` unless the settings say otherwise. */
export async function fill(
  store: Store,
  name: string,
  items: readonly string[],
  settings: Partial<CollectionSettings> = {},
): Promise<void> {
  const { keyField } = await store.create(name, { keyField: 'id', ...settings })
  if (items.length > 0) await store.append(name, itemRun(items, { keyField }))
}

/** `{"id":1}` and on, up to `count`. */
export function numbered(count: number, first = 1): string[] {
  return Array.from({ length: count }, (_, index) => `{"id":${first + index}}`)
}

export interface EnvelopeJson {
  readonly item_count?: number
  readonly _links: Readonly<Record<string, { readonly href: string }>>
  readonly _embedded: Readonly<Record<string, readonly unknown[]>>
}

export async function envelopeOf(response: Response): Promise<EnvelopeJson> {
  return (await response.json()) as EnvelopeJson
}

/** The server's own Response, which stands in for the global one where `listen` was imported, has no `bytes`. */
export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer())
}

export interface ProblemJson {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly hint: string
}

export async function problemOf(response: Response): Promise<ProblemJson> {
  return (await response.json()) as ProblemJson
}
