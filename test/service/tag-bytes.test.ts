/** Strong tags over random histories: two responses with the same ETag have the same bytes, whatever was committed between them. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { changesPath, snapshotPath } from '../../src/contract/link.ts'
import { lastPage } from '../../src/contract/page.ts'
import { stateOf } from '../../src/contract/state-tag.ts'
import { createService, type Service } from '../../src/service/create-service.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Head, Store } from '../../src/store/store.ts'
import { keyed } from '../store/items.ts'
import { openPostgresForTest } from '../store/postgres-engine.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import { readItems } from '../store/store-reading.ts'
import { BASE } from './open-service.ts'
import { isWhole } from './whole.ts'

const NAME = 'events'
const RUNS = { numRuns: isWhole() ? 20 : 1, endOnFailure: true }
const ENCODINGS = ['identity', 'gzip'] as const

/** `from` and `step` choose existing items, as a share of the collection in percent and as a distance. */
interface Change {
  readonly kind: 'append' | 'replace' | 'delete' | 'merge' | 'swap'
  readonly count: number
  readonly from: number
  readonly step: number
  /** Bytes of each item. Large items are stored in quires of fewer than 125. */
  readonly size: number
}

const changes = fc.array(
  fc.record({
    kind: fc.constantFrom('append', 'append', 'replace', 'replace', 'delete', 'delete', 'merge', 'swap'),
    count: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(1, 120, 125, 130, 380)),
    from: fc.nat(99),
    step: fc.constantFrom(1, 1, 7, 60),
    size: fc.constantFrom(20, 300, 900, 4_000),
  }),
  { minLength: 3, maxLength: 7 },
)

/** Every kind of change. With the second one page 1 ends in the tail, which the third one closes: page 1 gets a whole quire of it. */
const FIXED: readonly Change[] = [
  { kind: 'append', count: 210, from: 0, step: 1, size: 350 },
  { kind: 'delete', count: 100, from: 0, step: 1, size: 0 },
  { kind: 'append', count: 30, from: 0, step: 1, size: 350 },
  { kind: 'replace', count: 2, from: 10, step: 200, size: 300 },
  { kind: 'delete', count: 1, from: 30, step: 1, size: 0 },
  { kind: 'append', count: 3, from: 0, step: 1, size: 300 },
  { kind: 'merge', count: 2, from: 60, step: 1, size: 300 },
  { kind: 'swap', count: 3, from: 0, step: 1, size: 300 },
  { kind: 'append', count: 3, from: 0, step: 1, size: 300 },
]

function pagesOf({ live }: Head): number[] {
  return Array.from({ length: lastPage(live) }, (_, index) => index + 1)
}

/** Checks responses, of one history or of several that have states in common: the digest of its body by each tag. */
function seeTags(bodies = new Map<string, string>()) {
  /** Gets a target, and returns its tag. */
  return async ({ fetch }: Service, target: string, encoding: string): Promise<string> => {
    const headers = { 'accept-encoding': encoding }
    const response = await fetch(new Request(`${BASE}/${target}`, { headers }))
    assert.equal(response.status, 200, target)
    const tag = response.headers.get('etag') ?? assert.fail(`${target} has no tag`)
    assert.match(tag, /^"/)
    const body = hash('sha256', Buffer.from(await response.arrayBuffer()))
    assert.equal(bodies.get(tag) ?? body, body, `${encoding} ${target} has other bytes under the tag ${tag}`)
    bodies.set(tag, body)
    const known = await fetch(new Request(`${BASE}/${target}`, { headers: { ...headers, 'if-none-match': tag } }))
    assert.deepEqual([known.status, known.headers.get('etag')], [304, tag], `${encoding} ${target}`)
    return tag
  }
}

/** A collection under changes, read through services with and without a cache. `states` are those that the store has already. */
function tagHistory(store: Store, see: ReturnType<typeof seeTags>, states: Head[] = [], firstSeed = 0) {
  const [cached, uncached] = [createService({ store }), createService({ store, cacheBytes: 0 })]
  /** By encoding and target. */
  const snapshotTags = new Map<string, string>()
  let [lastId, seed] = [firstSeed, firstSeed]

  function item(id: string, size: number): string {
    const noise = hash('sha512', `${id} ${seed++}`)
    return `{"id":${id},"x":"${noise.repeat(Math.ceil(size / noise.length)).slice(0, size)}"}`
  }
  const items = (count: number, size: number) => Array.from({ length: count }, () => item(String(++lastId), size))

  /** Returns whether items were only appended. */
  async function change({ kind, count, from, step, size }: Change): Promise<boolean> {
    const keys = (await readItems(store, NAME)).map((text) => String(JSON.parse(text).id))
    const start = Math.floor((keys.length * from) / 100)
    const chosen = keys.filter((_, index) => index >= start && (index - start) % step === 0).slice(0, count)
    if (kind === 'append' || chosen.length === 0) {
      await store.append(NAME, keyed(items(count, size)))
      return true
    }
    const replaced = chosen.map((id) => item(id, size))
    if (kind === 'delete') await store.delete(NAME, chosen)
    else if (kind === 'replace') await store.replace(NAME, keyed(replaced))
    else {
      const isReplacement = kind === 'swap'
      const load = await store.load(NAME, isReplacement ? { isReplacement } : { onConflict: 'replace' })
      await load.append(keyed([...(isReplacement ? [] : replaced), ...items(count, size)]))
      await load.commit()
    }
    return false
  }

  /** Checks all pages of a snapshot, and one of the changes since. An append leaves the tags of snapshots as they were. */
  async function checkState(state: Head, encoding: string, isAppend: boolean): Promise<void> {
    await see(uncached, changesPath(NAME, stateOf(state)), encoding)
    for (const page of pagesOf(state)) {
      const target = `${snapshotPath(NAME, stateOf(state))}?page=${page}`
      const tag = await see(uncached, target, encoding)
      const last = snapshotTags.get(`${encoding} ${target}`) ?? tag
      if (isAppend || encoding === 'identity') assert.equal(tag, last, `${target} after an append`)
      snapshotTags.set(`${encoding} ${target}`, tag)
    }
  }

  return {
    states,
    async begin(count: number): Promise<void> {
      await store.create(NAME, { keyField: 'id' })
      await store.append(NAME, keyed(items(count, 300)))
    },
    async apply(all: readonly Change[]): Promise<void> {
      for (const each of all) {
        const isAppend = await change(each)
        const head = (await store.head(NAME)) ?? assert.fail()
        states.push(head)
        for (const encoding of ENCODINGS) {
          for (const service of [cached, uncached])
            for (const page of pagesOf(head)) await see(service, `${NAME}?page=${page}`, encoding)
          for (const state of states) await checkState(state, encoding, isAppend)
        }
      }
    },
  }
}

function describeTagBytes(open: () => Promise<{ store: Store; remove: () => Promise<void> }>): void {
  const check = async (begun: number, all: readonly Change[]): Promise<void> => {
    const { store, remove } = await open()
    try {
      const { begin, apply } = tagHistory(store, seeTags())
      await begin(begun)
      await apply(all)
    } finally {
      await remove()
    }
  }

  it('has one body for each tag, and 304 for it, whatever was committed since', () => check(400, FIXED))

  it('has one body for each tag, and 304 for it, through random histories', async () => {
    await fc.assert(fc.asyncProperty(fc.constantFrom(130, 490, 700), changes, check), RUNS)
  })
}

/** So that the items after a restore are others. */
const OTHER_SEED = 1_000_000

describe('a service on SQLite', () => {
  describeTagBytes(openSqliteForTest)

  // Both histories go on from the same states, and reach the same versions and change numbers.
  it('has one body for each tag also where a backup was put back and went on in another way', async () => {
    const property = fc.asyncProperty(changes, changes, changes, async (before, first, second) => {
      const { store, path, remove } = await openSqliteForTest()
      const restored = `${path}.restored`
      try {
        const see = seeTags()
        const { begin, apply, states } = tagHistory(store, see)
        await begin(400)
        await apply(before.slice(0, 2))
        const common = [...states]
        using database = new DatabaseSync(path)
        database.prepare('VACUUM INTO ?').run(restored)
        await apply(first.slice(0, 3))
        const other = await openSqliteStore({ path: restored })
        const otherHistory = tagHistory(other, see, common, OTHER_SEED)
        await otherHistory.apply(second.slice(0, 3)).finally(() => other.close())
      } finally {
        await remove()
      }
    })
    await fc.assert(property, RUNS)
  })
})

if (isWhole())
  describe('a service on PostgreSQL', async () => {
    const server = await startPostgres()
    after(() => server.stop())
    describeTagBytes(() => openPostgresForTest(server))
  })
