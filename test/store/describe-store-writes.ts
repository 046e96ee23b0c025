/** The part of the specification that serves writes over HTTP: requests sent again, conditions on items, tokens. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { itemRun } from '../../src/items/item-run.ts'
import type { CollectionSettings, Head, ItemConditions, Once, Store, TokenRecord } from '../../src/store/store.ts'
import type { StoreUnderTest } from './describe-store.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { pagesOf, readAllPages, readItems } from './store-reading.ts'

const KEYED: CollectionSettings = { keyField: 'id', isPaginated: true, isPrivate: false }

/** Well formed, and the tag of nothing. */
const OTHER_TAG = `"${'x'.repeat(43)}"`

/** As many as share one commit, and more. */
const MANY = 150

/** One write, of a new item or of one that is there, sent a few times over. */
const CHANGE = fc.record({
  kind: fc.constantFrom('append', 'put-new', 'put', 'remove'),
  pick: fc.nat(),
  times: fc.integer({ min: 1, max: 3 }),
})

/** All of them at once. */
const sendTimes = (times: number, send: () => Promise<unknown>) => Promise.all(Array.from({ length: times }, send))

export function describeStoreWrites(opened: () => StoreUnderTest): void {
  let store: Store
  let names = 0
  const newName = (): string => `written-${++names}`
  const newOnce = (digest = 'a'): Once => ({ key: `request ${++names}`, digest })

  before(() => {
    store = opened().store
  })

  /** A keyed collection with the items 0, 1, 2, … */
  const filled = async (count: number, settings: Partial<CollectionSettings> = KEYED): Promise<string> => {
    const name = newName()
    await store.create(name, settings)
    if (count > 0) await store.append(name, keyed(itemsFrom(0, count)))
    return name
  }
  const headOf = async (name: string): Promise<Head> => {
    const head = await store.head(name)
    assert.ok(head)
    return head
  }
  const check = async (name: string, texts: readonly string[]): Promise<Head> => {
    const head = await headOf(name)
    assert.equal(head.live, texts.length)
    assert.deepEqual(await readAllPages(store, name), pagesOf(texts))
    assert.deepEqual(await readItems(store, name), texts)
    return head
  }
  const tagOf = async (name: string, id: number): Promise<string> => {
    const found = (await store.item(name, String(id)))?.item
    assert.ok(found)
    return found.tag
  }
  /** Opens the data again, as after a restart, and closes it at the end. */
  const afterReopening = async <T>(use: (again: Store) => Promise<T>): Promise<T> => {
    const again = await opened().openAgain()
    try {
      return await use(again)
    } finally {
      await again.close()
    }
  }

  describe('ensuring a collection', () => {
    it('creates it with these settings', async () => {
      const name = newName()
      const settings = { keyField: 'sku', isPaginated: false, isPrivate: true }
      const { head, isNew } = await store.ensure(name, settings)
      assert.equal(isNew, true)
      assert.deepEqual(head, { ...head, ...settings, name, live: 0, next: 0 })
      assert.deepEqual(await store.head(name), head)
    })

    it('answers one that has the same settings, unchanged', async () => {
      const name = await filled(700)
      const head = await headOf(name)
      assert.deepEqual(await store.ensure(name, KEYED), { head, isNew: false })
      assert.deepEqual(await store.head(name), head)
    })

    it('refuses other settings, naming both, and changes nothing', async () => {
      const name = await filled(3)
      const before = await headOf(name)
      for (const [settings, words] of [
        [{ ...KEYED, keyField: 'sku' }, /"id".*"sku"/s],
        [{ ...KEYED, keyField: null }, /"id".*no key/s],
        [{ ...KEYED, isPaginated: false }, /paginated.*unpaginated/s],
        [{ ...KEYED, isPrivate: true }, /public.*private/s],
      ] as const)
        await assert.rejects(store.ensure(name, settings), (error: unknown) => {
          assert.ok(isError('settings-differ')(error))
          assert.match(String(error), words)
          return true
        })
      assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
    })

    it('refuses a name that breaks the rule', async () => {
      for (const wrong of ['', 'Events', 'a/b', '*'])
        await assert.rejects(store.ensure(wrong, KEYED), isError('invalid-name'))
    })

    it('by many at once makes it once', async () => {
      const name = newName()
      const outcomes = await afterReopening((again) =>
        Promise.all(Array.from({ length: 40 }, (_, turn) => [store, again][turn % 2]?.ensure(name, KEYED))),
      )
      assert.equal(outcomes.filter((outcome) => outcome?.isNew).length, 1)
      assert.equal(new Set(outcomes.map((outcome) => outcome?.head.id)).size, 1)
    })

    it('is refused while a load creates it', async () => {
      const name = newName()
      const load = await store.load(name, { settings: KEYED })
      await assert.rejects(store.ensure(name, KEYED), isError('busy'))
      await load.commit()
      assert.equal((await store.ensure(name, KEYED)).isNew, false)
    })

    it('sent again says again that it is new, also when it has items by then, and makes it anew when it is gone', async () => {
      const name = newName()
      const once = newOnce()
      const first = await store.ensure(name, KEYED, { once })
      assert.equal(first.isNew, true)
      await store.append(name, keyed(itemsFrom(0, 3)))
      assert.deepEqual(await store.ensure(name, KEYED, { once }), first)
      await store.drop(name)
      const { head, isNew } = await store.ensure(name, KEYED, { once })
      assert.equal(isNew, true)
      assert.notEqual(head.id, first.head.id)
      assert.deepEqual(await store.head(name), head)
    })

    it('sent again with other settings is refused', async () => {
      const name = newName()
      const once = newOnce()
      await store.ensure(name, KEYED, { once })
      const other = { ...once, digest: 'b' }
      await assert.rejects(
        store.ensure(name, { ...KEYED, isPrivate: true }, { once: other }),
        isError('request-differs'),
      )
    })
  })

  describe('a write that is sent again', () => {
    it('answers what was answered first, and writes nothing', async () => {
      const name = await filled(0)
      const once = newOnce()
      const first = await store.append(name, keyed(itemsFrom(0, 600)), { once })
      await store.append(name, keyed(itemsFrom(600, 1)))
      for (let turn = 0; turn < 3; turn++)
        assert.deepEqual(await store.append(name, keyed(itemsFrom(0, 600)), { once }), first)
      await check(name, itemsFrom(0, 601))
    })

    it('also into a collection without a key, where nothing else would stop it', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      for (let turn = 0; turn < 3; turn++) await store.append(name, itemRun(itemsFrom(0, 2)), { once })
      await check(name, itemsFrom(0, 2))
    })

    it('with something else in it is refused, and writes nothing', async () => {
      const name = await filled(0)
      const once = newOnce('a')
      const first = await store.append(name, keyed([item(1)]), { once })
      const other = store.append(name, keyed([item(2)]), { once: { ...once, digest: 'b' } })
      await assert.rejects(other, isError('request-differs'))
      assert.deepEqual(await store.append(name, keyed([item(1)]), { once }), first)
      await check(name, [item(1)])
    })

    it('under another key is another write', async () => {
      const name = await filled(0, {})
      for (const once of [newOnce(), newOnce()]) await store.append(name, itemRun([item(1)]), { once })
      await check(name, [item(1), item(1)])
    })

    it('was not remembered if it was refused', async () => {
      const name = await filled(3)
      const once = newOnce()
      const append = (id: number, digest: string) =>
        store.append(name, keyed([item(10), item(id)]), { once: { ...once, digest } })
      await assert.rejects(append(2, 'a'), isError('key-conflict'))
      await assert.rejects(append(2, 'a'), isError('key-conflict'))
      await store.remove(name, '2')
      await append(2, 'a')
      assert.deepEqual(await append(2, 'a'), await headOf(name))
      await check(name, [item(0), item(1), item(10), item(2)])
    })

    it('that was refused leaves its key free for another', async () => {
      const name = await filled(1)
      const { key } = newOnce()
      await assert.rejects(
        store.append(name, keyed([item(0)]), { once: { key, digest: 'a' } }),
        isError('key-conflict'),
      )
      await store.append(name, keyed([item(1)]), { once: { key, digest: 'b' } })
      await check(name, itemsFrom(0, 2))
    })

    it('before the first has ended is written once', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      const heads = await Promise.all(
        Array.from({ length: MANY }, () => store.append(name, itemRun(itemsFrom(0, 3)), { once })),
      )
      for (const head of heads) assert.deepEqual(head, heads[0])
      assert.deepEqual(await check(name, itemsFrom(0, 3)), heads[0])
    })

    it('before the first has ended, with other things in it: one is written, the others are refused', async () => {
      const name = await filled(0, {})
      const { key } = newOnce()
      const outcomes = await Promise.allSettled(
        itemsFrom(0, MANY).map((text, index) =>
          store.append(name, itemRun([text]), { once: { key, digest: String(index) } }),
        ),
      )
      const written = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [item(index)] : []))
      assert.equal(written.length, 1)
      for (const outcome of outcomes)
        assert.ok(outcome.status === 'fulfilled' || isError('request-differs')(outcome.reason))
      await check(name, written)
    })

    it('among others in one commit does not touch them', async () => {
      const name = await filled(0)
      const onces = Array.from({ length: 30 }, () => newOnce())
      const send = () => Promise.all(onces.map((once, index) => store.append(name, keyed([item(index)]), { once })))
      const [first, second] = await Promise.all([send(), send()])
      assert.deepEqual(second, first)
      await check(name, itemsFrom(0, 30))
    })

    it('through another process at the same time is written once', async () => {
      const name = await filled(0, {})
      const onces = Array.from({ length: 40 }, () => newOnce())
      await afterReopening(async (again) => {
        const send = (each: Store) =>
          Promise.all(onces.map((once, index) => each.append(name, itemRun([item(index)]), { once })))
        const [here, there] = await Promise.all([send(store), send(again)])
        assert.deepEqual(there, here)
      })
      const texts = await readItems(store, name)
      assert.deepEqual(texts.toSorted(), itemsFrom(0, 40).toSorted())
    })

    it('is known after a restart', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      const first = await afterReopening((again) => again.append(name, itemRun([item(1)]), { once }))
      await afterReopening(async (again) => {
        assert.deepEqual(await again.append(name, itemRun([item(1)]), { once }), first)
        const other = again.append(name, itemRun([item(2)]), { once: { ...once, digest: 'b' } })
        await assert.rejects(other, isError('request-differs'))
      })
      await check(name, [item(1)])
    })

    it('is another one when the collection is another one by now, or gone', async () => {
      const name = await filled(2)
      const once = newOnce()
      const { id: collectionId } = await headOf(name)
      const append = (options = {}) => store.append(name, keyed([item(2)]), { once, ...options })
      await append({ collectionId })
      await store.drop(name)
      await assert.rejects(append(), isError('no-collection'))
      await store.create(name, KEYED)
      await assert.rejects(append({ collectionId }), isError('collection-changed'))
      const second = await append()
      assert.deepEqual(await append(), second)
      assert.deepEqual(await check(name, [item(2)]), second)
    })

    it('may put and remove too', async () => {
      const name = await filled(3)
      const [creating, replacing, removing] = [newOnce(), newOnce(), newOnce()]
      const create = () => store.put(name, keyed([item(3)]), { ifNoneMatch: '*' }, { once: creating })
      const created = await create()
      assert.equal(created.isNew, true)
      const tag = await tagOf(name, 0)
      const replace = () => store.put(name, keyed([item(0, ',"n":1')]), { ifMatch: [tag] }, { once: replacing })
      const replaced = await replace()
      assert.equal(replaced.isNew, false)
      const remove = () => store.remove(name, '1', {}, { once: removing })
      const removed = await remove()
      // The conditions no longer hold, and the item is gone; what was answered stays true.
      assert.deepEqual(await create(), created)
      assert.deepEqual(await replace(), replaced)
      assert.deepEqual(await remove(), removed)
      assert.deepEqual(await check(name, [item(0, ',"n":1'), item(2), item(3)]), removed)
    })

    it('may drop a collection, and then leaves alone one that was created since', async () => {
      const name = await filled(2)
      const once = newOnce()
      const state = await headOf(name)
      await store.drop(name, state, { once })
      await store.create(name, KEYED)
      await store.drop(name, state, { once })
      await check(name, [])
      await assert.rejects(store.drop(name, state, { once: { ...once, digest: 'b' } }), isError('request-differs'))
    })

    it('while a load runs is answered if it was done before, and else refused as busy', async () => {
      const name = await filled(2)
      const [done, fresh] = [newOnce(), newOnce()]
      const first = await store.append(name, keyed([item(2)]), { once: done })
      const load = await store.load(name)
      assert.deepEqual(await store.append(name, keyed([item(2)]), { once: done }), first)
      await assert.rejects(store.append(name, keyed([item(3)]), { once: fresh }), isError('busy'))
      await load.abort()
      await store.append(name, keyed([item(3)]), { once: fresh })
      await check(name, itemsFrom(0, 4))
    })
  })

  describe('a write to the collection that the caller has in mind', () => {
    it('is refused once another has the name', async () => {
      const name = await filled(3)
      const { id: collectionId } = await headOf(name)
      const writes = [
        () => store.append(name, keyed([item(9)]), { collectionId }),
        () => store.put(name, keyed([item(8)]), {}, { collectionId }),
        () => store.put(name, keyed([item(1, ',"n":1')]), {}, { collectionId }),
        () => store.remove(name, '0', {}, { collectionId }),
      ]
      for (const write of writes) await write()
      await check(name, [item(1, ',"n":1'), item(2), item(9), item(8)])
      await store.drop(name)
      for (const write of writes) await assert.rejects(write(), isError('no-collection'))
      await store.create(name, KEYED)
      await store.append(name, keyed(itemsFrom(0, 2)))
      for (const write of writes) await assert.rejects(write(), isError('collection-changed'))
      await check(name, itemsFrom(0, 2))
    })
  })

  describe('appending to a collection that need not be there', () => {
    it('makes it without a key and paginated, in the same commit', async () => {
      const name = newName()
      const head = await store.append(name, itemRun(itemsFrom(0, 600)), { create: true })
      assert.deepEqual(head, { ...head, keyField: null, isPaginated: true, isPrivate: false, live: 600 })
      await store.append(name, itemRun(itemsFrom(600, 1)), { create: true })
      await check(name, itemsFrom(0, 601))
    })

    it('by many at once makes it once', async () => {
      const name = newName()
      const heads = await Promise.all(
        itemsFrom(0, MANY).map((text) => store.append(name, itemRun([text]), { create: true })),
      )
      assert.equal(new Set(heads.map(({ id }) => id)).size, 1)
      await check(name, itemsFrom(0, MANY))
    })

    it('does not make it when the name breaks the rule, or when it is not asked to', async () => {
      await assert.rejects(store.append('Wrong', itemRun([item(1)]), { create: true }), isError('invalid-name'))
      const name = newName()
      await assert.rejects(store.append(name, itemRun([item(1)])), isError('no-collection'))
      assert.equal(await store.head(name), undefined)
    })
  })

  describe('putting an item', () => {
    it('appends one that is new, at the end', async () => {
      const name = await filled(1234)
      const before = await headOf(name)
      const { head, isNew, tag } = await store.put(name, keyed([item(5000)]))
      assert.equal(isNew, true)
      assert.equal(tag, await tagOf(name, 5000))
      assert.deepEqual([head.version, head.fullPagesId], [before.version + 1, before.fullPagesId])
      assert.deepEqual(await check(name, [...itemsFrom(0, 1234), item(5000)]), head)
    })

    for (const count of [0, 499, 999])
      it(`seals the ream that a new one fills, after ${count} items`, async () => {
        const name = await filled(count)
        for (let id = count; id < count + 3; id++) await store.put(name, keyed([item(id)]))
        await check(name, itemsFrom(0, count + 3))
      })

    it('replaces one that is there, in its place, in sealed reams and in the tail', async () => {
      const name = await filled(1234)
      const texts = itemsFrom(0, 1234)
      for (const id of [0, 499, 500, 777, 999, 1000, 1233]) {
        const before = await headOf(name)
        const text = item(id, `,"new":"${'x'.repeat(id)}"`)
        texts[id] = text
        const { head, isNew, tag } = await store.put(name, keyed([text]))
        assert.equal(isNew, false)
        assert.equal(tag, await tagOf(name, id))
        assert.deepEqual([head.version, head.live], [before.version + 1, before.live])
        assert.notEqual(head.fullPagesId, before.fullPagesId)
      }
      await check(name, texts)
    })

    it('puts a removed one at the end again', async () => {
      const name = await filled(600)
      await store.remove(name, '3')
      assert.equal((await store.put(name, keyed([item(3)]))).isNew, true)
      await check(name, [...itemsFrom(0, 3), ...itemsFrom(4, 596), item(3)])
    })

    it('gives the same text the same tag, and another text another', async () => {
      const name = await filled(1)
      const { tag } = await store.put(name, keyed([item(1, ',"n":1')]))
      assert.match(tag, /^"[\x21\x23-\x7e]+"$/)
      assert.equal((await store.put(name, keyed([item(1, ',"n":1')]))).tag, tag)
      assert.notEqual((await store.put(name, keyed([item(1, ',"n":2')]))).tag, tag)
      assert.notEqual((await store.put(name, keyed([item(1, ', "n":1')]))).tag, tag)
    })

    it('keeps it byte for byte, and its tag is that of the bytes', async () => {
      const name = await filled(499)
      const texts = [
        '{"id":500,"n":1.10,"m":12345678901234567890}',
        ' { "id" : 501 , "u":"ä€😀\\u00e4" }\t',
        '{"id":502,"n":1,"n":2}',
      ]
      for (const text of texts) {
        const run = keyed([text])
        const { tag } = await store.put(name, run)
        const found = (await store.item(name, run.keys?.[0] ?? ''))?.item
        assert.deepEqual([String(found?.text), found?.tag], [text, tag])
      }
      await check(name, [...itemsFrom(0, 499), ...texts])
    })

    it('is refused for a collection without a key, for an item without its own, and where there is no collection', async () => {
      const name = await filled(2, {})
      for (const conditions of [{}, { ifMatch: '*' }, { ifNoneMatch: '*' }] as const)
        await assert.rejects(store.put(name, keyed([item(1)]), conditions), isError('no-key-field'))
      await check(name, itemsFrom(0, 2))
      const withKey = await filled(2)
      await assert.rejects(store.put(withKey, itemRun([item(1)])), isError('no-key-field'))
      await check(withKey, itemsFrom(0, 2))
      await assert.rejects(store.put('nope', keyed([item(1)])), isError('no-collection'))
    })

    it('is refused for a run that does not hold one item', async () => {
      const name = await filled(600)
      const before = await headOf(name)
      for (const texts of [[], [item(1), item(2)], itemsFrom(598, 4)])
        await assert.rejects(store.put(name, keyed(texts)), RangeError)
      assert.deepEqual(await check(name, itemsFrom(0, 600)), before)
    })

    it('into a full unpaginated collection replaces, and adds nothing', async () => {
      const name = await filled(10_000, { ...KEYED, isPaginated: false })
      await assert.rejects(store.put(name, keyed([item(10_000)])), isError('unpaginated-full'))
      assert.equal((await store.put(name, keyed([item(7, ',"n":1')]))).isNew, false)
      const texts = itemsFrom(0, 10_000).with(7, item(7, ',"n":1'))
      assert.deepEqual(await readItems(store, name), texts)
      await store.remove(name, '7')
      assert.equal((await store.put(name, keyed([item(10_000)]))).isNew, true)
    })

    it('by many at once keeps the last of each key, in the place of the first', async () => {
      const name = await filled(700)
      const outcomes = await Promise.all(
        Array.from({ length: MANY }, (_, turn) => store.put(name, keyed([item(690 + (turn % 30), `,"n":${turn}`)]))),
      )
      const fresh = outcomes.filter(({ isNew }) => isNew)
      assert.equal(fresh.length, 20)
      const changed = Array.from({ length: 30 }, (_, index) => item(690 + index, `,"n":${MANY - 30 + index}`))
      await check(name, [...itemsFrom(0, 690), ...changed])
    })
  })

  describe('many changes of one ream at once', () => {
    it('see what those before them left, whether those were done or refused', async () => {
      const name = await filled(1200)
      const tag = await tagOf(name, 7)
      const [once, removing] = [newOnce(), newOnce()]
      const outcomes = await Promise.allSettled([
        store.put(name, keyed([item(7, ',"n":1')]), { ifMatch: [tag] }),
        store.put(name, keyed([item(7, ',"n":2')]), { ifMatch: [tag] }),
        store.put(name, keyed([item(8, ',"n":3')]), { ifMatch: '*' }, { once }),
        store.delete(name, ['9', '10', 'nope']),
        store.remove(name, '11', {}, { once: removing }),
        store.remove(name, '11', {}, { once: removing }),
        store.remove(name, '11'),
        store.replace(name, keyed([item(12, ',"n":4'), item(11)])),
        store.put(name, keyed([item(8, ',"n":5')]), {}, { once: { ...once, digest: 'b' } }),
        store.put(name, keyed([item(11, ',"n":6')]), { ifNoneMatch: '*' }),
        store.replace(name, keyed([item(7, ',"n":7'), item(700, ',"n":8'), item(1199, ',"n":9')])),
        store.delete(name, ['0', '499']),
      ])
      assert.deepEqual(
        outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code)),
        [
          ...['done', 'precondition-failed', 'done', 'no-item', 'done', 'done', 'no-item'],
          ...['no-item', 'request-differs', 'done', 'done', 'done'],
        ],
      )
      const texts = [...itemsFrom(0, 1200), item(11, ',"n":6')]
      for (const [id, n] of [
        [7, 7],
        [8, 3],
        [700, 8],
        [1199, 9],
      ] as const)
        texts[id] = item(id, `,"n":${n}`)
      await check(
        name,
        texts.filter((_, index) => ![0, 11, 499].includes(index)),
      )
    })

    it('change nothing of a collection that is dropped with them', async () => {
      const [name, other] = [await filled(1200), await filled(1200)]
      await Promise.all([
        store.put(name, keyed([item(3, ',"n":1')])),
        store.put(other, keyed([item(3, ',"n":1')])),
        store.drop(name),
        store.drop(await filled(0)),
      ])
      assert.equal(await store.head(name), undefined)
      await check(other, itemsFrom(0, 1200).with(3, item(3, ',"n":1')))
    })
  })

  describe('conditions on an item', () => {
    const holding = (tag: string): ItemConditions[] => [
      {},
      { ifMatch: '*' },
      { ifMatch: [tag] },
      { ifMatch: [OTHER_TAG, tag] },
      { ifNoneMatch: [] },
      { ifNoneMatch: [OTHER_TAG] },
      { ifMatch: [tag], ifNoneMatch: [OTHER_TAG] },
    ]
    const failing = (tag: string): ItemConditions[] => [
      { ifMatch: [] },
      { ifMatch: [OTHER_TAG] },
      { ifMatch: [tag.slice(1, -1)] },
      { ifMatch: [`W/${tag}`] },
      { ifNoneMatch: '*' },
      { ifNoneMatch: [tag] },
      { ifNoneMatch: [OTHER_TAG, tag] },
      { ifMatch: [tag], ifNoneMatch: '*' },
      { ifMatch: [OTHER_TAG], ifNoneMatch: [OTHER_TAG] },
    ]
    const holdingWithout: ItemConditions[] = [
      {},
      { ifNoneMatch: '*' },
      { ifNoneMatch: [OTHER_TAG] },
      { ifNoneMatch: [] },
    ]
    const failingWithout: ItemConditions[] = [{ ifMatch: '*' }, { ifMatch: [OTHER_TAG] }, { ifMatch: [] }]

    for (const id of [2, 1001]) {
      const place = id < 1000 ? 'a sealed ream' : 'the tail'

      it(`in ${place}: it is replaced where they hold`, async () => {
        const name = await filled(1003)
        const turns = holding('').length
        for (let turn = 0; turn < turns; turn++) {
          const conditions = holding(await tagOf(name, id))[turn]
          const put = await store.put(name, keyed([item(id, `,"n":${turn}`)]), conditions)
          assert.equal(put.isNew, false)
          assert.equal(await tagOf(name, id), put.tag)
        }
        await check(name, itemsFrom(0, 1003).with(id, item(id, `,"n":${turns - 1}`)))
      })

      it(`in ${place}: where they do not hold, nothing changes`, async () => {
        const name = await filled(1003)
        const before = await headOf(name)
        for (const conditions of failing(await tagOf(name, id))) {
          const put = store.put(name, keyed([item(id, ',"n":1')]), conditions)
          await assert.rejects(put, isError('precondition-failed'), JSON.stringify(conditions))
          const remove = store.remove(name, String(id), conditions)
          await assert.rejects(remove, isError('precondition-failed'), JSON.stringify(conditions))
        }
        assert.deepEqual(await check(name, itemsFrom(0, 1003)), before)
      })

      it(`in ${place}: it is removed where they hold`, async () => {
        const name = await filled(1003)
        for (const conditions of holding(await tagOf(name, id))) {
          const { live } = await store.remove(name, String(id), conditions)
          assert.equal(live, 1002)
          await store.put(name, keyed([item(id)]))
        }
        await check(name, [...itemsFrom(0, id), ...itemsFrom(id + 1, 1002 - id), item(id)])
      })
    }

    it('that is not there: it is created where they hold, and else nothing changes', async () => {
      const name = await filled(3)
      const before = await headOf(name)
      for (const conditions of failingWithout) {
        const put = store.put(name, keyed([item(9)]), conditions)
        await assert.rejects(put, isError('precondition-failed'), JSON.stringify(conditions))
        const remove = store.remove(name, '9', conditions)
        await assert.rejects(remove, isError('precondition-failed'), JSON.stringify(conditions))
      }
      assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
      for (const [index, conditions] of holdingWithout.entries())
        assert.equal((await store.put(name, keyed([item(10 + index)]), conditions)).isNew, true)
      await check(name, [...itemsFrom(0, 3), ...itemsFrom(10, holdingWithout.length)])
    })

    it('that many want to create at once: one does', async () => {
      const name = await filled(600)
      const outcomes = await afterReopening((again) =>
        Promise.allSettled(
          Array.from({ length: MANY }, (_, turn) =>
            (turn % 2 === 0 ? store : again).put(name, keyed([item(1000, `,"by":${turn}`)]), { ifNoneMatch: '*' }),
          ),
        ),
      )
      const winners = outcomes.flatMap(({ status }, turn) => (status === 'fulfilled' ? [turn] : []))
      assert.equal(winners.length, 1)
      for (const outcome of outcomes)
        assert.ok(outcome.status === 'fulfilled' || isError('precondition-failed')(outcome.reason))
      await check(name, [...itemsFrom(0, 600), item(1000, `,"by":${winners[0]}`)])
    })

    it('that many want to change from one state: one does, and none is lost when they try again', async () => {
      const name = await filled(0)
      const count = (text: Uint8Array): number => JSON.parse(Buffer.from(text).toString()).n
      await store.put(name, keyed([item(1, ',"n":0')]))
      const increment = async (each: Store): Promise<void> => {
        for (;;) {
          const found = (await each.item(name, '1'))?.item
          assert.ok(found)
          try {
            await each.put(name, keyed([item(1, `,"n":${count(found.text) + 1}`)]), { ifMatch: [found.tag] })
            return
          } catch (error) {
            if (!isError('precondition-failed')(error)) throw error
          }
        }
      }
      await afterReopening((again) =>
        Promise.all(Array.from({ length: 24 }, (_, turn) => increment(turn % 2 === 0 ? store : again))),
      )
      await check(name, [item(1, ',"n":24')])
    })
  })

  describe('removing an item', () => {
    it('closes the gap, in sealed reams and in the tail', async () => {
      const name = await filled(1234)
      let texts = itemsFrom(0, 1234)
      for (const id of [0, 499, 500, 777, 1000, 1233]) {
        const before = await headOf(name)
        const head = await store.remove(name, String(id))
        assert.deepEqual([head.version, head.live], [before.version + 1, before.live - 1])
        assert.notEqual(head.fullPagesId, before.fullPagesId)
        texts = texts.filter((text) => text !== item(id))
        assert.deepEqual(await check(name, texts), head)
      }
    })

    it('is refused for one that is not there, and changes nothing', async () => {
      const name = await filled(600)
      const before = await headOf(name)
      for (const conditions of [{}, { ifNoneMatch: '*' }, { ifNoneMatch: [OTHER_TAG] }] as const)
        await assert.rejects(store.remove(name, '600', conditions), isError('no-item'))
      await store.remove(name, '5')
      await assert.rejects(store.remove(name, '5'), isError('no-item'))
      assert.equal((await headOf(name)).version, before.version + 1)
    })

    it('is refused for a collection without a key, whatever the conditions, and where there is no collection', async () => {
      const name = await filled(2, {})
      for (const conditions of [{}, { ifMatch: '*' }, { ifNoneMatch: '*' }] as const)
        await assert.rejects(store.remove(name, '1', conditions), isError('no-key-field'))
      await check(name, itemsFrom(0, 2))
      await assert.rejects(store.remove('nope', '1'), isError('no-collection'))
    })

    it('by many at once removes each once', async () => {
      const name = await filled(1100)
      const ids = Array.from({ length: MANY }, (_, turn) => 490 + (turn % 50))
      const outcomes = await Promise.allSettled(ids.map((id) => store.remove(name, String(id))))
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 50)
      for (const outcome of outcomes) assert.ok(outcome.status === 'fulfilled' || isError('no-item')(outcome.reason))
      await check(name, [...itemsFrom(0, 490), ...itemsFrom(540, 560)])
    })
  })

  it('agrees with a plain array over any sequence of appends, puts and removals, each sent once or again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 498, 1100), fc.array(CHANGE, { maxLength: 30 }), async (count, changes) => {
        const name = await filled(count)
        const texts = itemsFrom(0, count)
        let lastId = count
        for (const [turn, { kind, pick, times }] of changes.entries()) {
          const options = { once: newOnce() }
          const fresh = item(++lastId)
          const index = pick % Math.max(1, texts.length)
          const before = texts[index]
          if (kind === 'append' || kind === 'put-new') {
            const run = keyed([fresh])
            await sendTimes(times, () =>
              kind === 'append' ? store.append(name, run, options) : store.put(name, run, {}, options),
            )
            texts.push(fresh)
          } else if (before !== undefined) {
            const { id } = JSON.parse(before)
            const text = item(id, `,"turn":${turn}`)
            await sendTimes(times, () =>
              kind === 'put'
                ? store.put(name, keyed([text]), {}, options)
                : store.remove(name, String(id), {}, options),
            )
            texts.splice(index, 1, ...(kind === 'put' ? [text] : []))
          }
        }
        await check(name, texts)
        await store.drop(name)
      }),
      { numRuns: 30 },
    )
  })

  describe('dropping a collection in a state', () => {
    it('is done while it is in that state', async () => {
      const name = await filled(600)
      await store.drop(name, await headOf(name))
      assert.equal(await store.head(name), undefined)
    })

    it('is refused once it has changed, and changes nothing', async () => {
      const name = await filled(3)
      const changes: (() => Promise<unknown>)[] = [
        () => store.append(name, keyed([item(3)])),
        () => store.put(name, keyed([item(3, ',"n":1')])),
        () => store.remove(name, '3'),
        () => store.setPrivate(name, true),
        async () => {
          const load = await store.load(name, { isReplacement: true })
          await load.append(keyed(itemsFrom(0, 3)))
          await load.commit()
        },
      ]
      for (const change of changes) {
        const state = await headOf(name)
        await change()
        await assert.rejects(store.drop(name, state), isError('precondition-failed'))
      }
      await check(name, itemsFrom(0, 3))
    })

    it('is refused for another one of the same name, and where there is none', async () => {
      const name = await filled(0)
      const state = await headOf(name)
      await store.drop(name, state)
      await assert.rejects(store.drop(name, state), isError('no-collection'))
      const { version, generation } = await store.create(name, KEYED)
      assert.deepEqual([version, generation], [state.version, state.generation])
      await assert.rejects(store.drop(name, state), isError('precondition-failed'))
      await check(name, [])
    })

    it('by many at once is done once', async () => {
      const name = await filled(600)
      const state = await headOf(name)
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store.drop(name, state)))
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    })
  })

  describe('tokens', () => {
    let tokens = 0
    const newToken = (more: Partial<TokenRecord> = {}): TokenRecord => ({
      name: `token-${++tokens}`,
      hash: createHash('sha256').update(`secret ${tokens}`).digest('hex'),
      scopes: ['write:events', 'read:*'],
      createdAt: 1_700_000_000_000,
      expiresAt: 1_800_000_000_000,
      revokedAt: null,
      ...more,
    })
    const stored = async (name: string) => (await store.tokens()).find((each) => each.name === name)

    it('begins without any', async () => {
      assert.deepEqual(await store.tokens(), [])
      assert.equal(await store.token(newToken().hash), undefined)
    })

    it('are found by their hash, whole, at once and in other processes', async () => {
      await afterReopening(async (again) => {
        for (const token of [
          newToken(),
          newToken({ expiresAt: null, scopes: ['admin'] }),
          newToken({ revokedAt: 1_700_000_000_001 }),
          newToken({ scopes: [] }),
          newToken({ scopes: ['odd "one"', 'ä,é'] }),
        ]) {
          await store.addToken(token)
          assert.deepEqual(await store.token(token.hash), token)
          assert.deepEqual(await again.token(token.hash), token)
        }
      })
      for (const hash of ['', 'f'.repeat(64), newToken().hash]) assert.equal(await store.token(hash), undefined)
    })

    it('are listed by name, also those that are revoked or expired', async () => {
      const added = [
        newToken({ name: 'zeta' }),
        newToken({ name: 'alpha', revokedAt: 1 }),
        newToken({ name: 'Beta', expiresAt: 2 }),
      ]
      for (const token of added) await store.addToken(token)
      const listed = await store.tokens()
      const listedNames = listed.map(({ name }) => name)
      assert.deepEqual(listedNames, listedNames.toSorted())
      for (const token of added) assert.deepEqual(await stored(token.name), token)
    })

    it('cannot have a name that is taken, even by a revoked one', async () => {
      const token = newToken()
      await store.addToken(token)
      await assert.rejects(store.addToken(newToken({ name: token.name, scopes: ['admin'] })), isError('token-exists'))
      await store.revokeToken(token.name, 7)
      await assert.rejects(store.addToken(newToken({ name: token.name, scopes: ['admin'] })), isError('token-exists'))
      assert.deepEqual(await stored(token.name), { ...token, revokedAt: 7 })
    })

    it('by many at once under one name: one is added', async () => {
      const added = Array.from({ length: 40 }, () => newToken({ name: 'wanted' }))
      const outcomes = await afterReopening((again) =>
        Promise.allSettled(added.map((token, turn) => (turn % 2 === 0 ? store : again).addToken(token))),
      )
      const winners = added.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      assert.equal(winners.length, 1)
      assert.deepEqual(await stored('wanted'), winners[0])
      const known = await Promise.all(added.map(({ hash }) => store.token(hash)))
      assert.equal(known.filter((each) => each !== undefined).length, 1)
    })

    it('are revoked for good, which other processes see at once; the first time counts', async () => {
      const token = newToken()
      await store.addToken(token)
      await afterReopening(async (again) => {
        assert.deepEqual(await again.token(token.hash), token)
        await store.revokeToken(token.name, 1_750_000_000_000)
        assert.deepEqual(await again.token(token.hash), { ...token, revokedAt: 1_750_000_000_000 })
        await again.revokeToken(token.name, 1_760_000_000_000)
      })
      await store.revokeToken(token.name, 1_740_000_000_000)
      assert.deepEqual(await store.token(token.hash), { ...token, revokedAt: 1_750_000_000_000 })
    })

    it('of an unknown name cannot be revoked', async () => {
      for (const name of ['nobody', '', 'ZETA']) await assert.rejects(store.revokeToken(name, 1), isError('no-token'))
    })
  })
}
