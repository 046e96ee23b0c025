/** What compacting a collection rests on, in every engine: a load that is fed with the collection's own items. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { compactCollection } from '../../src/cli/commands/compact.ts'
import { itemRun } from '../../src/items/item-run.ts'
import type { Head, Store } from '../../src/store/store.ts'
import type { Engine, StoreUnderTest } from './describe-store.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { pagesOf, readAllPages, readItems } from './store-reading.ts'

const { signal } = new AbortController()

export function describeStoreCompact(engine: Engine): void {
  describe('compacting', () => {
    let opened: StoreUnderTest
    let store: Store
    let names = 0

    before(async () => {
      opened = await engine.open()
      store = opened.store
    })
    after(() => opened.remove())

    /** A collection after some of its items were deleted, and what is left of them. */
    const withHoles = async (count: number, isGone: (id: number) => boolean, isPaginated = true) => {
      const name = `compact-${++names}`
      await store.create(name, { keyField: 'id', isPaginated })
      await store.append(name, keyed(itemsFrom(0, count)))
      const ids = Array.from({ length: count }, (_, id) => id)
      await store.delete(name, ids.filter(isGone).map(String))
      return { name, texts: ids.filter((id) => !isGone(id)).map((id) => item(id)) }
    }
    const check = async (name: string, texts: readonly string[]): Promise<Head | undefined> => {
      const head = await store.head(name)
      assert.equal(head?.live, texts.length)
      if (head?.isPaginated) assert.deepEqual(await readAllPages(store, name), pagesOf(texts))
      assert.deepEqual(await readItems(store, name), texts)
      for (const text of texts.filter((_, index) => index % 300 === 0))
        assert.equal(String((await store.item(name, String(JSON.parse(text).id)))?.item?.text), text)
      return head
    }
    const checkSound = async () => assert.deepEqual((await store.verify()).findings, [])

    const SHAPES: Readonly<Record<string, readonly [count: number, isGone: (id: number) => boolean]>> = {
      'one hole at the beginning': [1600, (id) => id === 0],
      'holes everywhere, also in the tail': [2260, (id) => id % 3 === 1],
      'whole reams gone': [2600, (id) => id >= 400 && id < 2100],
      'all but the last gone': [1501, (id) => id < 1500],
      'everything gone': [1200, () => true],
      'a full ream left': [1000, (id) => id % 2 === 0],
    }
    for (const [shape, [count, isGone]] of Object.entries(SHAPES))
      it(`keeps items, order and keys, and closes the holes: ${shape}`, async () => {
        const { name, texts } = await withHoles(count, isGone)
        const old = await check(name, texts)
        const { head, closed } = await compactCollection(store, name, { signal })
        assert.equal(closed, count - texts.length)
        assert.deepEqual(await check(name, texts), head)
        assert.deepEqual({ ...head, ...MOVED }, { ...old, ...MOVED })
        assert.equal(head.next, head.live)
        assert.ok(old && head.generation > old.generation && head.version > old.version)
        assert.notEqual(head.commitId, old.commitId)
        assert.notEqual(head.fullPagesId, old.fullPagesId)
        await store.append(name, keyed(itemsFrom(9000, 700)))
        await store.delete(name, ['9000'])
        await check(name, [...texts, ...itemsFrom(9001, 699)])
        await checkSound()
      })

    it('keeps an unpaginated collection so', async () => {
      const { name, texts } = await withHoles(1300, (id) => id % 2 === 0, false)
      await compactCollection(store, name, { signal })
      assert.equal((await check(name, texts))?.isPaginated, false)
    })

    it('keeps the bytes of items and keys as they are', async () => {
      const name = `compact-${++names}`
      await store.create(name, { keyField: 'id' })
      const texts = [
        '{ "id" : "ä,b" ,"n":1.10}',
        '{"id":12345678901234567890,"a":1,"a":-0}',
        '{"id":"\\u00fc \\ud83d\\ude00"} ',
      ]
      await store.append(name, keyed(['{"id":0}', ...texts]))
      await store.delete(name, ['0'])
      await compactCollection(store, name, { signal })
      assert.deepEqual(await readItems(store, name), texts)
      assert.equal(String((await store.item(name, 'ü 😀'))?.item?.text), texts[2])
      await checkSound()
    })

    it('is unseen until the end; readers go on, and other writers of the collection are refused', async () => {
      const { name, texts } = await withHoles(2200, (id) => id % 5 === 0)
      const asked: number[] = []
      const meanwhile = async (page: number) => {
        asked.push(page)
        if (page !== 3) return
        await check(name, texts)
        await assert.rejects(store.append(name, keyed([item(9000)])), isError('busy'))
        await assert.rejects(store.delete(name, ['1']), isError('busy'))
        await assert.rejects(store.drop(name), isError('busy'))
        await assert.rejects(compactCollection(store, name, { signal }), isError('busy'))
        await store.setPrivate(name, true)
      }
      const { head } = await compactCollection(whenPagesAreRead(store, meanwhile), name, { signal })
      assert.ok(asked.includes(3))
      assert.equal(head.isPrivate, true)
      await check(name, texts)
      await checkSound()
    })

    it('leaves no trace when it is interrupted', async () => {
      const { name, texts } = await withHoles(2200, (id) => id % 5 === 0)
      const old = await store.head(name)
      const interruption = new AbortController()
      const reason = new Error('interrupted')
      const onItems = () => interruption.abort(reason)
      await assert.rejects(compactCollection(store, name, { signal: interruption.signal, onItems }), reason)
      assert.deepEqual(await check(name, texts), old)
      await store.append(name, keyed([item(9000)]))
      await check(name, [...texts, item(9000)])
      await checkSound()
    })

    it('does not answer a request that is sent again with anything else than before', async () => {
      const { name, texts } = await withHoles(700, (id) => id < 100)
      const once = { key: 'compacted', digest: 'same' }
      const first = await store.append(name, keyed([item(9000)]), { once })
      await compactCollection(store, name, { signal })
      assert.deepEqual(await store.append(name, keyed([item(9000)]), { once }), first)
      await check(name, [...texts, item(9000)])
    })

    it('makes no collection where there is none', async () => {
      await assert.rejects(compactCollection(store, 'compact-nothing', { signal }), isError('collection-changed'))
      assert.equal(await store.head('compact-nothing'), undefined)
      await store.create('compact-nothing')
      await store.append('compact-nothing', itemRun([item(1)]))
      await compactCollection(store, 'compact-nothing', { signal })
      assert.deepEqual(await readItems(store, 'compact-nothing'), [item(1)])
    })
  })
}

/** What is another afterwards. */
const MOVED = { generation: 0, version: 0, commitId: '', fullPagesId: '', next: 0 }

/** The store, and something that happens before a page is read. */
function whenPagesAreRead(store: Store, happens: (page: number) => Promise<void>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'page') return value.bind(target)
      return async (...parameters: Parameters<Store['page']>) => {
        await happens(parameters[1])
        return target.page(...parameters)
      }
    },
  })
}
