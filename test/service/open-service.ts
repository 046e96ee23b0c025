/** A service on a real store of its own, both gone when the test is over. */

import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { createService, type ServiceOptions } from '../../src/service/create-service.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { openTestStore } from '../store/test-store.ts'

export const BASE = 'http://127.0.0.1:8080'

export interface OpenService {
  readonly store: Store
  /** Asks the service for a path, or for a whole URL. */
  readonly get: (target: string, headers?: Record<string, string>, method?: string) => Promise<Response>
  /** Asks another service on the same store. */
  readonly again: (options: Partial<ServiceOptions>) => OpenService['get']
}

interface Closer {
  readonly after: TestContext['after']
}

export async function openService(t: Closer, options: Partial<ServiceOptions> = {}): Promise<OpenService> {
  const { store, remove } = await openTestStore()
  t.after(remove)
  const again: OpenService['again'] = (otherOptions) => {
    const { fetch } = createService({ store, ...otherOptions })
    return async (target, headers = {}, method = 'GET') =>
      fetch(new Request(target.startsWith('/') ? BASE + target : target, { headers, method }))
  }
  return { store, get: again(options), again }
}

/** The same for all tests of a suite. To be called where the suite is described. */
export function sharedService(
  fillStore: (store: Store) => Promise<void>,
  options: Partial<ServiceOptions> = {},
): () => OpenService {
  const closers: (() => unknown)[] = []
  let service: OpenService | undefined
  before(async () => {
    service = await openService({ after: (close) => closers.push(close as () => unknown) }, options)
    await fillStore(service.store)
  })
  after(async () => {
    for (const close of closers) await close()
  })
  return () => service ?? assert.fail('The service is opened before the first test, not before.')
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
