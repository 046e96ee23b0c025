/** An origin, which is a service on a real store, and a mirror of it in another one. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ItemRun, itemRun } from '../../src/items/item-run.ts'
import { Mirror, type MirrorEvent, type MirrorOptions } from '../../src/mirror/mirror.ts'
import type { LimitOptions } from '../../src/mirror/mirror-limits.ts'
import { Origin } from '../../src/mirror/origin.ts'
import { createService } from '../../src/service/create-service.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Head, Store } from '../../src/store/store.ts'
import { BASE, fill, shared } from '../service/open-service.ts'
import { readItems } from '../store/store-reading.ts'
import { openTestStore } from '../store/test-store.ts'
import { waitUntil } from '../wait-until.ts'

/** `{"id":3,"text":"…"}` and on. */
export function rows(from: number, to: number, text = 'first'): string[] {
  return Array.from({ length: to - from }, (_, index) => `{"id":${from + index},"text":"${text}"}`)
}

export const keyed = (texts: readonly string[]): ItemRun => itemRun(texts, { keyField: 'id' })

const UNLIMITED = Number.POSITIVE_INFINITY
export const NO_LIMITS: LimitOptions = { maxItems: UNLIMITED, maxBytes: UNLIMITED, checkSpace: async () => undefined }

/** Options of a mirror with these limits. */
export function limited(limits: Partial<LimitOptions>): { readonly limits: LimitOptions } {
  return { limits: { ...NO_LIMITS, ...limits } }
}

/** Two stores for all tests of a file. Each test has its own collection in both. */
export function sharedStores(): (t: TestContext) => Pair {
  const stores = shared(async (closer) => {
    const [origin, mirror] = [await openTestStore(), await openTestStore()]
    closer.after(origin.remove)
    closer.after(mirror.remove)
    return [origin.store, mirror.store] as const
  })
  let count = 0
  return (t) => new Pair(t, `events-${++count}`, ...stores())
}

export class Pair {
  readonly name: string
  readonly url: string
  readonly store: Store
  readonly mirror: Store
  readonly events: MirrorEvent[] = []
  requests = 0
  /** Called before each request; may respond in place of the service. */
  onRequest: (request: Request, number: number) => Response | undefined | Promise<Response | undefined> = () =>
    undefined
  /** The store that the service is on: another one after a restore. */
  serving: Store
  /** Sent to the origin if there is one. */
  token: string | undefined
  readonly #t: TestContext
  readonly #states = new Set<string>()

  constructor(t: TestContext, name: string, store: Store, mirror: Store) {
    this.#t = t
    this.name = name
    this.url = `${BASE}/${name}`
    this.store = store
    this.serving = store
    this.mirror = mirror
  }

  // The origin

  fill(items: readonly string[], settings: Partial<CollectionSettings> = {}): Promise<void> {
    return fill(this.store, this.name, items, settings)
  }

  async fillAgain(items: readonly string[], settings: Partial<CollectionSettings> = {}): Promise<void> {
    await this.store.drop(this.name)
    await this.fill(items, settings)
  }

  /** One version: the puts first. */
  async change(puts: readonly string[], deletes: readonly (string | number)[] = [], store = this.store) {
    const steps = [...puts.map(() => null), ...deletes.map(String)]
    await store.patch(this.name, { puts: keyed(puts), steps })
  }

  /** One version that replaces all items, or those with the same keys. */
  async load(items: readonly string[], options: Parameters<Store['load']>[1]): Promise<void> {
    const load = await this.store.load(this.name, options)
    await load.append(keyed(items))
    await load.commit()
  }

  /** The response of the service to the same URL, without what the request asks for beside. */
  serve(url: string): Promise<Response> {
    return createService({ store: this.serving }).fetch(new Request(url))
  }

  /** Remembers a state of the origin, for `showsState`. */
  async remember(store = this.store): Promise<void> {
    this.#states.add(digest(await readItems(store, this.name)))
  }

  // The mirror

  origin(signal: AbortSignal): Origin {
    const fetch = async (request: Request): Promise<Response> => {
      const given = await this.onRequest(request, ++this.requests)
      return given ?? createService({ store: this.serving }).fetch(request)
    }
    return new Origin(this.url, { fetch, token: this.token, retry: { retries: 0 } }, signal)
  }

  /** Runs until it has caught up, or the signal comes. */
  async run(options: Partial<MirrorOptions> = {}, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const given: MirrorOptions = {
      name: this.name,
      keyField: undefined,
      everyMs: 10,
      retryMs: 10,
      waitSeconds: 30,
      isOnce: true,
      itemBytes: 1_000_000,
      limits: NO_LIMITS,
      open: async () => this.origin(signal),
      onEvent: (event) => void this.events.push(event),
      ...options,
    }
    await new Mirror(this.mirror, this.origin(signal), given, signal).run()
  }

  /** Runs until the test ends, or the function that it returns is called. Resolves when something has happened. */
  async keepUp(options: Partial<MirrorOptions> = {}, hasBegun = () => this.count('current') > 0) {
    const ending = new AbortController()
    const running = this.run({ isOnce: false, ...options }, ending.signal)
    const end = async (): Promise<void> => {
      ending.abort(new Error('enough'))
      await assert.rejects(running, /enough|abort/i)
    }
    this.#t.after(end)
    await Promise.race([running, waitUntil(hasBegun)])
    return end
  }

  count(kind: MirrorEvent['kind']): number {
    return this.events.filter((event) => event.kind === kind).length
  }

  /** Why it was copied, each time. */
  get reasons(): string[] {
    return this.events.flatMap((event) => (event.kind === 'loaded' ? [event.reason] : []))
  }

  head(): Promise<Head | undefined> {
    return this.mirror.head(this.name)
  }

  items(name = this.name): Promise<string[]> {
    return readItems(this.mirror, name)
  }

  async following() {
    return (await this.mirror.followings()).find(({ name }) => name === this.name)
  }

  /** Whether the mirror holds one of the states that were remembered. */
  async showsState(name = this.name): Promise<boolean> {
    return this.#states.has(digest(await this.items(name)))
  }

  /** The mirror holds what its origin holds, in the same order. */
  async same(name = this.name): Promise<void> {
    assert.deepEqual(await this.items(name), await readItems(this.serving, this.name))
  }

  catchesUp(): Promise<void> {
    const inOrigin = async () => digest(await readItems(this.serving, this.name))
    return waitUntil(async () => digest(await this.items()) === (await inOrigin()))
  }
}

function digest(items: readonly string[]): string {
  return hash('sha256', items.join('\n'))
}

/** Stores in files that began as one, as after a restored backup. */
export async function copies(t: TestContext, count: number, fillStore: (store: Store) => Promise<unknown>) {
  const directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
  const path = join(directory, 'first.db')
  const first = await openSqliteStore({ path, create: true })
  await fillStore(first)
  await first.close()
  const stores: Store[] = []
  for (let number = 0; number < count; number++) {
    copyFileSync(path, `${path}.${number}`)
    stores.push(await openSqliteStore({ path: `${path}.${number}` }))
  }
  t.after(async () => {
    for (const store of stores) await store.close()
    rmSync(directory, { recursive: true })
  })
  return stores
}
