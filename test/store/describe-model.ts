/**
 * A store beside a plain map: whatever is done to both, through one connection or several at once, they stay the same, and
 * so do the states before and the changes that lead from them to the present.
 */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { fullPages, lastPage } from '../../src/contract/page.ts'
import { stateOf } from '../../src/contract/state-tag.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { DEFAULT_ITEM_BYTES } from '../../src/items/item-scanner.ts'
import { splitItems } from '../../src/store/item-text.ts'
import { QUIRE_SIZE } from '../../src/store/positions.ts'
import type { Created, Head, ItemChanges, ItemConditions, Once, Patched, Store } from '../../src/store/store.ts'
import { newSeed } from '../faults/command.ts'
import { changed, isError, itemsFrom, keyed } from './items.ts'
import { applyChanges, keyOf, patchOf, readChanges, readSnapshot, walk } from './past-reading.ts'
import {
  packedTextsOf,
  pagesOf,
  readAllPages,
  readItems,
  readPackedTexts,
  readPageTexts,
  textsOf,
} from './store-reading.ts'
import { KEYED, type Subject } from './subject.ts'

/** What each of several connections sends before it waits: so calls share commits. */
const AT_ONCE = 6

/** The refusals that another writer can bring about. */
const REFUSALS = [
  'key-conflict',
  'no-item',
  'no-collection',
  'precondition-failed',
  'busy',
  'lease-lost',
  'collection-changed',
]

const FREQUENT = [
  'append',
  'put',
  'create',
  'change',
  'remove',
  'replace',
  'delete',
  'patch',
  'patch',
  'read',
  'read',
] as const
const BULK = ['append', 'load', 'swap', 'merge', 'replace', 'delete', 'delete', 'patch'] as const
const RARE = ['load', 'swap', 'merge', 'drop', 'ensure'] as const

interface Change {
  readonly kind: (typeof FREQUENT | typeof BULK | typeof RARE)[number]
  readonly ids: readonly number[]
  /** Instead of the ids: so many new items, or those that are there from some place of a page on. */
  readonly bulk?: { readonly count: number; readonly from: number }
  /** How often it is sent, through different connections. */
  readonly times: number
  /** Bytes of its items; the least that they take if there are fewer. */
  readonly size: number
}

/** A change that was done: where its version stands, and what it did to the items. */
interface Done {
  readonly head: Head
  /** Undefined where that depends on what was there. */
  readonly isPureAppend: boolean | undefined
  readonly apply: (items: Map<string, string>) => void
}

interface State {
  readonly head: Head
  readonly texts: readonly string[]
}

/** A page that was read meanwhile, of the state that its head names. */
interface Seen extends State {
  readonly page: number
}

const ids = fc.uniqueArray(
  fc.oneof({ weight: 3, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.integer({ min: 480, max: 1010 }) }),
  { minLength: 1, maxLength: 4 },
)
const times = fc.constantFrom(1, 1, 1, 2, 3)
/** Up to the limit, which is rare: a quire of such items has megabytes. */
const size = fc.oneof(
  { weight: 12, arbitrary: fc.constant(2) },
  { weight: 5, arbitrary: fc.integer({ min: 2, max: 500 }) },
  { weight: 1, arbitrary: fc.constantFrom(16_384, 65_535, 65_536, DEFAULT_ITEM_BYTES) },
)
/** Items in a row that may be as large as they like; those behind them are small. */
const MAX_LARGE = 20
const LARGE_BYTES = 1_000
const count = fc.oneof(
  fc.constantFrom(1, 2, QUIRE_SIZE - 1, QUIRE_SIZE, QUIRE_SIZE + 1, 499, 500, 501, 999, 1000, 1001),
  fc.integer({ min: 1, max: 700 }),
)
const few = fc.record({
  kind: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...FREQUENT) },
    { weight: 1, arbitrary: fc.constantFrom(...RARE) },
  ),
  ids,
  times,
  size,
})
const many = fc.record({
  kind: fc.constantFrom(...BULK),
  ids,
  times: fc.constant(1),
  size,
  bulk: fc.record({ count, from: fc.nat() }),
})

/** Earlier states of a run that are read again, at most. */
const STATES_CHECKED = 8

/** So many random histories of each kind; `isShort` is without a large collection. */
export function describeModel(subject: Subject, { runs, isShort = false }: { runs: number; isShort?: boolean }): void {
  const { store, openAgain, newName, load, elsewhere } = subject

  /** As many runs as asked for, with a seed that is printed. */
  const runsOf = (t: TestContext): { numRuns: number; seed: number; endOnFailure: boolean } => {
    const seed = newSeed()
    t.diagnostic(`seed ${seed}`)
    return { numRuns: runs, seed, endOnFailure: true }
  }

  for (const [how, connections, changes] of [
    ['through one connection', 1, fc.array(fc.oneof(few, many), { minLength: 10, maxLength: 25 })],
    ['through several connections at once', 3, fc.array(few, { minLength: 60, maxLength: 60 })],
  ] as const)
    it(`is, after writes ${how}, what their answers say in the order of the versions, and was so before`, async (t) => {
      const others = await Promise.all(Array.from({ length: connections - 1 }, openAgain))
      const property = fc.asyncProperty(fc.constantFrom(0, 97, 495, 998), changes, async (begun, each) => {
        const run = await Run.begin([store, ...others], newName(), begun)
        await run.send(each)
        await run.check()
      })
      await fc.assert(property, runsOf(t)).finally(async () => {
        for (const other of others) await other.close()
      })
    })

  it('is a plain array also without keys, with items of 2 bytes up to the limit', async (t) => {
    const keyless = fc.record({ kind: fc.constantFrom('append', 'patch', 'load', 'swap'), count, size })
    const property = fc.asyncProperty(fc.array(keyless, { minLength: 3, maxLength: 8 }), async (changes) => {
      const name = newName()
      let texts: string[] = []
      await store.create(name)
      for (const [turn, { kind, count: each, size: bytes }] of changes.entries()) {
        const added = Array.from({ length: each }, (_, index) => textOf('', sizeAt(index, bytes), turn + index))
        const run = itemRun(added)
        if (kind === 'append') await store.append(name, run)
        else if (kind === 'patch') await store.patch(name, { puts: run, steps: added.map(() => null) })
        else await load(name, added, { isReplacement: kind === 'swap' })
        texts = kind === 'swap' ? added : [...texts, ...added]
        assert.equal((await store.head(name))?.live, texts.length)
      }
      await assertTexts(store, name, texts)
    })
    await fc.assert(property, runsOf(t))
  })

  if (isShort) return

  it('is a plain array also beyond 256 reams, with holes that another process makes, as are its states before', () =>
    elsewhere(async (other) => {
      const name = newName()
      let texts = itemsFrom(0, 257 * 500 + 123)
      const { head: loaded } = await load(name, texts, { settings: KEYED })
      const states: State[] = [{ head: loaded, texts }]
      const remove = async (gone: readonly string[]): Promise<void> => {
        await other.delete(name, gone.map(keyOf))
        const removed = new Set(gone)
        texts = texts.filter((text) => !removed.has(text))
      }
      await remove(texts.filter((_, index) => (index * 48_271) % 101 === 0))
      states.push({ head: (await store.head(name)) ?? assert.fail(), texts })
      await remove(texts.slice(40_000, 45_000))
      // Whole reams, at the border of two blocks.
      await remove(texts.slice(124_000, 127_000))
      texts = texts.with(3, changed(JSON.parse(texts[3] ?? '').id, 1))
      await other.replace(name, keyed(texts.slice(3, 4)))
      await other.append(name, keyed(itemsFrom(200_000, 700)))
      texts.push(...itemsFrom(200_000, 700))
      assert.deepEqual(await readItems(store, name), texts)
      // Around the holes and the borders of blocks, and some between.
      const pages = [1, 2, 3, 80, 81, 82, 150, 200, 238, 239, 240, 241, 242, 245, 246, 247, 248, 249, 254, 257, 258]
      for (const page of pages) {
        const number = Math.min(page, lastPage(texts.length))
        assert.deepEqual(await readPageTexts(store, name, page), pagesOf(texts)[number - 1])
        for (const { head, texts: before } of states) {
          const read = (await store.pageAt(name, stateOf(head), page)) ?? assert.fail()
          assert.deepEqual(textsOf(read), pagesOf(before)[read.page - 1])
        }
      }
    }))
}

/** Fails unless every page, plain and gzip, and all items in a row are these. */
async function assertTexts(store: Store, name: string, texts: readonly string[]): Promise<void> {
  const expected = pagesOf(texts.map(brief))
  for (const read of [readPageTexts, readPackedTexts]) {
    const pages = await readAllPages(store, name, read)
    assert.deepEqual(
      pages.map((page) => page.map(brief)),
      expected,
    )
  }
  assert.deepEqual((await readItems(store, name)).map(brief), texts.map(brief))
}

/** What differs is printed, and a megabyte of it would take minutes. */
function brief(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 50)} ${text.length} ${hash('md5', text)}`
}

function sizeAt(index: number, bytes: number): number {
  return index < MAX_LARGE || bytes < LARGE_BYTES ? bytes : 2
}

/** Letters in no order that deflate could make much of. */
const NOISE = Array.from({ length: DEFAULT_ITEM_BYTES / 64 + 64 }, (_, line) => hash('sha256', String(line))).join('')

/** A JSON object of so many bytes that begins with these members, if there is room for anything behind them. */
function textOf(members: string, bytes: number, seed: number): string {
  const begun = `{${members}${members === '' ? '' : ','}"x":"`
  const room = bytes - begun.length - 2
  if (room < 0) return `{${members}}`
  const from = seed % 4096
  return `${begun}${seed % 2 === 0 ? NOISE.slice(from, from + room) : 'ab'.repeat(room).slice(0, room)}"}`
}

class Run {
  readonly #stores: readonly Store[]
  readonly #name: string
  readonly #done: Done[] = []
  readonly #seen: Seen[] = []
  #revision = 0
  /** Of items that no other change is about. */
  #lastId = 10_000

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
        const size = this.#stores.length === 1 ? 1 : AT_ONCE
        for (let from = 0; from < own.length; from += size)
          await Promise.all(own.slice(from, from + size).map((change) => this.#sendOne(connection, change)))
      }),
    )
  }

  async check(): Promise<void> {
    const byId = Map.groupBy(this.#done, ({ head }) => head.id)
    const states = [...byId.values()].map((done) => replay(done, this.#seen))
    const known = new Set(this.#done.map(({ head }) => head.commitId))
    // A collection that has just been made.
    for (const { head, texts } of this.#seen)
      if (!known.has(head.commitId)) assert.deepEqual([head.live, texts], [0, []])
    const head = await this.#store(1).head(this.#name)
    if (head === undefined) return
    const present = states.find((each) => each[0]?.head.id === head.id)?.at(-1)?.texts ?? []
    await assertTexts(this.#store(1), this.#name, present)
    // Those in the middle of a commit were never there.
    const seen = new Set(this.#seen.map(({ head: each }) => each.commitId))
    const all = states.flat().filter((each) => this.#stores.length === 1 || seen.has(each.head.commitId))
    const every = Math.ceil(all.length / STATES_CHECKED)
    for (const [index, state] of all.entries())
      if (index % every === 0) await this.#checkPast(this.#store(index / every), state, head, present)
  }

  /** A state of the collection that is there now is as it was. Those of one that was dropped never were. */
  async #checkPast(store: Store, { head, texts }: State, now: Head, present: readonly string[]): Promise<void> {
    const [name, tag] = [this.#name, stateOf(head)]
    if (head.id !== now.id) return assert.rejects(store.pageAt(name, tag, 1), isError('no-state'))
    assert.deepEqual((await readSnapshot(store, name, tag)).map(brief), texts.map(brief))
    const packed = await walk((page) => store.pageAt(name, tag, page, { form: 'deflated' }), packedTextsOf)
    assert.deepEqual(packed.map(brief), texts.map(brief))
    assert.equal((await store.pageAt(name, tag, 1_000_000))?.page, lastPage(texts.length))
    const applied = applyChanges(texts, await readChanges(store, name, tag))
    assert.deepEqual(applied.map(brief), present.map(brief))
  }

  #store(index: number): Store {
    return this.#stores[index % this.#stores.length] ?? assert.fail()
  }

  #add(head: Head, isPureAppend: boolean | undefined, apply: Done['apply']): void {
    this.#done.push({ head, isPureAppend, apply })
  }

  #sendOne(connection: number, change: Change): Promise<void> {
    return this.#attempt(connection, change).catch((error) => {
      // Nobody is in the way of new items, or of those that one connection alone has just read.
      if (change.bulk !== undefined || !REFUSALS.includes(error.code)) throw error
    })
  }

  async #attempt(connection: number, { kind, ids: given, times, bulk, size: bytes }: Change): Promise<void> {
    const name = this.#name
    const store = this.#store(connection)
    const revision = ++this.#revision
    const ids = bulk === undefined ? given : await this.#many(store, kind, bulk)
    if (ids.length === 0) return
    const texts = ids.map((id, index) => textOf(`"id":${id},"r":${revision}`, sizeAt(index, bytes), id + revision))
    const [first = ''] = texts
    const keys = ids.map(String)
    const [key = ''] = keys
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
      case 'patch': {
        const changes = patchOf(texts, revision)
        for (const done of await again((each) => each.patch(name, changes, { once, skipMissing: true }))) {
          const { head, appended, replaced, deleted } = done
          if (appended + replaced + deleted > 0) this.#add(head, replaced + deleted === 0, applying(changes, done))
        }
        return
      }
      case 'read':
        return this.#read(store, ids[0] ?? 0, revision % 2 === 0)
      case 'drop':
        return void (await again(async (each) => void (await each.drop(name, undefined, { once }))))
      case 'ensure':
        return void (await again((each) => each.ensure(name, KEYED, { once })))
      default:
        return this.#load(store, kind, texts)
    }
  }

  async #read(store: Store, seed: number, isPacked: boolean): Promise<void> {
    const { live = 0 } = (await store.head(this.#name)) ?? {}
    const read = await store.page(this.#name, 1 + (seed % lastPage(live)), { form: isPacked ? 'deflated' : 'raw' })
    if (read === undefined) return
    const { head, page } = read
    this.#seen.push({ head, page, texts: isPacked ? packedTextsOf(read) : textsOf(read) })
  }

  async #many(store: Store, kind: Change['kind'], { count, from }: Required<Change>['bulk']): Promise<number[]> {
    const head = await store.head(this.#name)
    if (head === undefined) return []
    if (!['replace', 'delete', 'merge'].includes(kind)) return Array.from({ length: count }, () => ++this.#lastId)
    const texts = await readPageTexts(store, this.#name, 1 + (from % lastPage(head.live)))
    return texts
      .slice(from % Math.max(1, texts.length))
      .slice(0, count)
      .map((text) => Number(keyOf(text)))
  }

  /** A merge may replace items, of the collection and its own. */
  async #load(store: Store, kind: Change['kind'], texts: readonly string[]): Promise<void> {
    const [isMerge, isReplacement] = [kind === 'merge', kind === 'swap']
    const onConflict = isMerge ? 'replace' : 'fail'
    const load = await store.load(this.#name, { isReplacement, onConflict, settings: KEYED })
    const again = texts.slice(0, isMerge ? 2 : 0).map((text) => changed(Number(keyOf(text)), 0))
    const all = [...texts, ...again]
    try {
      for (let start = 0; start < all.length; start += 333) await load.append(keyed(all.slice(start, start + 333)))
      const { head } = await load.commit()
      this.#add(head, isMerge ? undefined : kind === 'load', (items) => {
        if (isReplacement) items.clear()
        if (isMerge) for (const text of all) items.set(keyOf(text), text)
        else append(texts)(items)
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
type Outcome = Head | Created | Patched | undefined

function collectionOf(outcome: Outcome): number | undefined {
  if (outcome === undefined) return undefined
  return 'head' in outcome ? outcome.head.id : outcome.id
}

function applying({ puts, steps }: ItemChanges, { appended, replaced, deleted }: Patched): Done['apply'] {
  return (items) => {
    const counts = { appended: 0, replaced: 0, deleted: 0 }
    const texts = splitItems(puts.text).values()
    for (const key of steps) {
      if (key !== null) counts.deleted += items.delete(key) ? 1 : 0
      else {
        const text = texts.next().value ?? assert.fail()
        counts[items.has(keyOf(text)) ? 'replaced' : 'appended']++
        items.set(keyOf(text), text)
      }
    }
    assert.deepEqual({ appended, replaced, deleted }, counts)
  }
}

/** Applies what was done in the order of the versions, and checks every answer, and every page that was seen, against the states. */
function replay(done: readonly Done[], seen: readonly Seen[]): State[] {
  const seenIn = Map.groupBy(seen, ({ head }) => head.commitId)
  const items = new Map<string, string>()
  const states: State[] = []
  let before: Head | undefined
  for (const { head, isPureAppend, apply } of done.toSorted((a, b) => a.head.version - b.head.version)) {
    // A collection that a load made has its items in the first version.
    assert.equal(head.version, before === undefined ? Math.min(head.version, 2) : before.version + 1)
    apply(items)
    assert.equal(head.live, items.size)
    for (const { page, texts } of seenIn.get(head.commitId) ?? [])
      assert.deepEqual(texts.map(brief), pagesOf([...items.values()])[page - 1]?.map(brief))
    if (before !== undefined) assert.notEqual(head.commitId, before.commitId)
    if (before !== undefined && isPureAppend !== undefined) {
      const isSame = isPureAppend && fullPages(head.live) === fullPages(before.live)
      assert.equal(head.fullPagesId === before.fullPagesId, isSame)
    }
    before = head
    states.push({ head, texts: [...items.values()] })
  }
  return states
}

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
