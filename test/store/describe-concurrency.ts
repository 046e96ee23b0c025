/** Several connections that write to one collection at once: what became of it is what the versions in the answers say. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { fullPages } from '../../src/contract/page.ts'
import type { Created, Head, ItemConditions, Once, Store } from '../../src/store/store.ts'
import { item, itemsFrom, keyed } from './items.ts'
import { pagesOf, readAllPages, readItems } from './store-reading.ts'
import { KEYED, type Subject } from './subject.ts'

const CONNECTIONS = 3

/** What each connection sends before it waits: so calls share commits. */
const AT_ONCE = 6

/** The refusals that another writer can bring about. */
const REFUSALS = ['key-conflict', 'no-item', 'no-collection', 'precondition-failed', 'busy', 'lease-lost']

const FREQUENT = ['append', 'put', 'create', 'change', 'remove', 'replace', 'delete'] as const
const RARE = ['load', 'swap', 'drop'] as const

interface Change {
  readonly kind: (typeof FREQUENT)[number] | (typeof RARE)[number] | 'ensure'
  readonly ids: readonly number[]
  /** How often it is sent, through different connections. */
  readonly times: number
}

/** A change that was done: where its version stands, and what it did to the items. */
interface Done {
  readonly head: Head
  readonly isPureAppend: boolean
  readonly apply: (items: Map<string, string>) => void
}

const ids = fc.uniqueArray(
  fc.oneof({ weight: 3, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.integer({ min: 480, max: 1010 }) }),
  { minLength: 1, maxLength: 4 },
)
const times = fc.constantFrom(1, 1, 1, 2, 3)
const kind = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...FREQUENT) },
  { weight: 1, arbitrary: fc.constantFrom(...RARE) },
  { weight: 1, arbitrary: fc.constant('ensure' as const) },
)
const changes: fc.Arbitrary<Change[]> = fc.array(fc.record({ kind, ids, times }), { minLength: 60, maxLength: 60 })

export function describeConcurrency({ store, openAgain, newName }: Subject): void {
  it('is, after writes through several connections at once, what their answers say in the order of the versions', async () => {
    const others = await Promise.all(Array.from({ length: CONNECTIONS - 1 }, openAgain))
    try {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(0, 495, 998), changes, async (count, each) => {
          const run = await Run.begin([store, ...others], newName(), count)
          await run.send(each)
          await run.check()
        }),
        { numRuns: 12 },
      )
    } finally {
      for (const other of others) await other.close()
    }
  })
}

class Run {
  readonly #stores: readonly Store[]
  readonly #name: string
  readonly #done: Done[] = []
  #revision = 0

  private constructor(stores: readonly Store[], name: string) {
    this.#stores = stores
    this.#name = name
  }

  static async begin(stores: readonly Store[], name: string, count: number): Promise<Run> {
    const run = new Run(stores, name)
    await run.#store(0).create(name, KEYED)
    const texts = itemsFrom(0, count)
    if (count > 0) run.#add(await run.#store(0).append(name, keyed(texts)), true, append(texts))
    return run
  }

  /** Each connection sends its part, some at a time; a change that is sent several times goes through several. */
  async send(all: readonly Change[]): Promise<void> {
    await Promise.all(
      this.#stores.map(async (_, connection) => {
        const own = all.filter((_, index) => index % this.#stores.length === connection)
        for (let from = 0; from < own.length; from += AT_ONCE)
          await Promise.all(own.slice(from, from + AT_ONCE).map((change) => this.#sendOne(connection, change)))
      }),
    )
  }

  async check(): Promise<void> {
    const byId = Map.groupBy(this.#done, ({ head }) => head.id)
    const states = new Map([...byId].map(([id, done]) => [id, replay(done)]))
    const head = await this.#store(1).head(this.#name)
    if (head === undefined) return
    const texts = [...(states.get(head.id)?.values() ?? [])]
    assert.deepEqual(await readAllPages(this.#store(1), this.#name), pagesOf(texts))
    assert.deepEqual(await readItems(this.#store(2), this.#name), texts)
  }

  #store(index: number): Store {
    return this.#stores[index % this.#stores.length] ?? assert.fail()
  }

  #add(head: Head, isPureAppend: boolean, apply: Done['apply']): void {
    this.#done.push({ head, isPureAppend, apply })
  }

  #sendOne(connection: number, change: Change): Promise<void> {
    return this.#attempt(connection, change).catch((error) => {
      if (!REFUSALS.includes(error.code)) throw error
    })
  }

  async #attempt(connection: number, { kind, ids, times }: Change): Promise<void> {
    const name = this.#name
    const store = this.#store(connection)
    const revision = ++this.#revision
    const texts = ids.map((id) => item(id, `,"r":${revision}`))
    const [first = ''] = texts
    const key = String(ids[0])
    const keys = ids.map(String)
    const once: Once = { key: `${name} ${revision}`, digest: 'a' }
    const again = <T extends Outcome>(send: (each: Store) => Promise<T>) => this.#sendTimes(connection, times, send)
    const put = async (conditions: ItemConditions, before?: string) => {
      for (const done of await again((each) => each.put(name, keyed([first]), conditions, { once }))) {
        if (done.isNew) this.#add(done.head, true, append([first]))
        else this.#add(done.head, false, replace([first], before))
        if (conditions.ifNoneMatch === '*') assert.equal(done.isNew, true)
        if (conditions.ifMatch !== undefined) assert.equal(done.isNew, false)
      }
    }
    switch (kind) {
      case 'append':
        for (const head of await again((each) => each.append(name, keyed(texts), { once })))
          this.#add(head, true, append(texts))
        return
      case 'put':
        return put({})
      case 'create':
        return put({ ifNoneMatch: '*' })
      case 'change': {
        const found = (await store.item(name, key))?.item
        return found && put({ ifMatch: [found.tag] }, Buffer.from(found.text).toString())
      }
      case 'remove':
        for (const head of await again((each) => each.remove(name, key, {}, { once })))
          this.#add(head, false, remove([key]))
        return
      case 'replace':
        return this.#add(await store.replace(name, keyed(texts)), false, replace(texts))
      case 'delete':
        return this.#add(await store.delete(name, keys), false, remove(keys))
      case 'drop':
        return void (await again(async (each) => void (await each.drop(name, undefined, { once }))))
      case 'ensure':
        return void (await again((each) => each.ensure(name, KEYED, { once })))
      default:
        return this.#load(store, texts, kind === 'swap')
    }
  }

  async #load(store: Store, texts: readonly string[], isReplacement: boolean): Promise<void> {
    const load = await store.load(this.#name, { isReplacement, settings: KEYED })
    try {
      await load.append(keyed(texts))
      const { head } = await load.commit()
      const apply = append(texts)
      this.#add(head, !isReplacement, (items) => {
        if (isReplacement) items.clear()
        apply(items)
      })
    } catch (error) {
      await load.abort()
      throw error
    }
  }

  /** Sends a write several times at once; all that find the same collection must be answered alike. */
  async #sendTimes<T extends Outcome>(
    connection: number,
    times: number,
    send: (each: Store) => Promise<T>,
  ): Promise<T[]> {
    const outcomes = await Promise.allSettled(
      Array.from({ length: times }, (_, turn) => send(this.#store(connection + turn))),
    )
    const values = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    for (const outcome of outcomes) if (values.length === 0 && outcome.status === 'rejected') throw outcome.reason
    const byCollection = Map.groupBy(values, collectionOf)
    return [...byCollection.values()].map(([first, ...others]) => {
      for (const other of others) assert.deepEqual(other, first)
      return first as T
    })
  }
}

/** What a write answers: nothing after a drop. */
type Outcome = Head | Created | undefined

function collectionOf(outcome: Outcome): number | undefined {
  if (outcome === undefined) return undefined
  return 'head' in outcome ? outcome.head.id : outcome.id
}

/** Applies what was done in the order of the versions, and checks every answer against the items. */
function replay(done: readonly Done[]): Map<string, string> {
  const items = new Map<string, string>()
  let before: Head | undefined
  for (const { head, isPureAppend, apply } of done.toSorted((a, b) => a.head.version - b.head.version)) {
    // A collection that a load made has its items in the first version.
    assert.equal(head.version, before === undefined ? Math.min(head.version, 2) : before.version + 1)
    apply(items)
    assert.equal(head.live, items.size)
    if (before !== undefined) {
      assert.notEqual(head.commitId, before.commitId)
      const isSame = isPureAppend && fullPages(head.live) === fullPages(before.live)
      assert.equal(head.fullPagesId === before.fullPagesId, isSame)
    }
    before = head
  }
  return items
}

const keyOf = (text: string): string => String(JSON.parse(text).id)

const append =
  (texts: readonly string[]): Done['apply'] =>
  (items) => {
    for (const text of texts) {
      assert.ok(!items.has(keyOf(text)), `${text} was appended although it was there`)
      items.set(keyOf(text), text)
    }
  }

const replace =
  (texts: readonly string[], before?: string): Done['apply'] =>
  (items) => {
    for (const text of texts) {
      assert.ok(items.has(keyOf(text)), `${text} was replaced although it was not there`)
      if (before !== undefined) assert.equal(items.get(keyOf(text)), before)
      items.set(keyOf(text), text)
    }
  }

const remove =
  (keys: readonly string[]): Done['apply'] =>
  (items) => {
    for (const key of keys) assert.ok(items.delete(key), `${key} was removed although it was not there`)
  }
