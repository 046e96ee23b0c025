/** An origin, which is a service on a real store, and a mirror of it in another one. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { Mirror, type MirrorEvent, type MirrorOptions } from '../../src/mirror/mirror.ts'
import type { LimitOptions } from '../../src/mirror/mirror-limits.ts'
import { Origin } from '../../src/mirror/origin.ts'
import { createService } from '../../src/service/create-service.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { BASE } from '../service/open-service.ts'
import { readItems } from '../store/store-reading.ts'
import { openTestStore } from '../store/test-store.ts'

export const URL = `${BASE}/events`

export const KEYED = { keyField: 'id' }

/** `{"id":3,"text":"…"}` and on. */
export function rows(from: number, to: number, text = 'first'): string[] {
  return Array.from({ length: to - from }, (_, index) => `{"id":${from + index},"text":"${text}"}`)
}

/** One version: the puts first. */
export function change(store: Store, puts: readonly string[], deletes: readonly (string | number)[] = []) {
  const steps = [...puts.map(() => null), ...deletes.map(String)]
  return store.patch('events', { puts: itemRun(puts, KEYED), steps })
}

const UNLIMITED = Number.POSITIVE_INFINITY
export const NO_LIMITS: LimitOptions = { maxItems: UNLIMITED, maxBytes: UNLIMITED, checkSpace: async () => undefined }

export class Pair {
  readonly store: Store
  readonly mirror: Store
  readonly events: MirrorEvent[] = []
  /** How many requests there were, and what comes before each. */
  requests = 0
  onRequest: (request: Request, number: number) => Response | undefined | Promise<Response | undefined> = () =>
    undefined
  /** The store that the service is on: another one after a restore. */
  serving: Store

  /** Sent to the origin, where there is one. */
  token: string | undefined

  private constructor(store: Store, mirror: Store) {
    this.store = store
    this.serving = store
    this.mirror = mirror
  }

  static async open(t: TestContext): Promise<Pair> {
    const [origin, mirror] = [await openTestStore(), await openTestStore()]
    t.after(origin.remove)
    t.after(mirror.remove)
    return new Pair(origin.store, mirror.store)
  }

  origin(signal: AbortSignal): Origin {
    const fetch = async (request: Request): Promise<Response> => {
      const given = await this.onRequest(request, ++this.requests)
      return given ?? createService({ store: this.serving }).fetch(request)
    }
    return new Origin(URL, { fetch, token: this.token, retry: { retries: 0 } }, signal)
  }

  /** Runs until it has caught up, or the signal comes. */
  async run(options: Partial<MirrorOptions> = {}, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const given: MirrorOptions = {
      name: 'events',
      keyField: undefined,
      everyMs: 10,
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

  told(kind: MirrorEvent['kind']): number {
    return this.events.filter((event) => event.kind === kind).length
  }
}

export async function itemsOf(store: Store, name = 'events'): Promise<string[]> {
  return readItems(store, name)
}

/** Stands for all items, in their order. */
export async function digestOf(store: Store, name?: string): Promise<string> {
  return hash('sha256', (await itemsOf(store, name)).join('\n'))
}

/** The versions of a store, each with what it held. */
export class Versions {
  readonly digests = new Set<string>()

  async add(store: Store): Promise<void> {
    this.digests.add(await digestOf(store))
  }
}

/** The mirror is as its origin. */
export async function same(pair: Pair): Promise<void> {
  assert.deepEqual(await itemsOf(pair.mirror), await itemsOf(pair.serving))
}

/** Stores in files that began as one, as after a backup that was put back. */
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

/** The answer of a service whose pages have tags of their own, made from what is on them, or none. */
export async function otherTags(store: Store, request: Request, hasTags: boolean): Promise<Response> {
  const { status, body } = await createService({ store }).fetch(new Request(request.url))
  const text = await new Response(body).text()
  const tag = `"${hash('sha256', text)}"`
  if (hasTags && request.headers.get('if-none-match') === tag) return new Response(null, { status: 304 })
  return new Response(text, { status, headers: hasTags ? { ETag: tag } : {} })
}
