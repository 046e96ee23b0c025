/** The part of the specification about requests that are sent again: each is done once. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import { isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { KEYED, type Subject } from './subject.ts'

/** As many as share one commit, and more. */
const MANY = 150

export function describeRepeats(subject: Subject): void {
  const { store, newName, newOnce, filled, headOf, check, elsewhere } = subject

  describe('a write that is sent again', () => {
    it('answers what was answered first, and writes nothing, with a key in the collection or without', async () => {
      for (const settings of [KEYED, {}]) {
        const name = await filled(0, settings)
        const [once, other] = [newOnce(), newOnce()]
        const run = itemRun(itemsFrom(0, 600), settings)
        const first = await store.append(name, run, { once })
        await store.append(name, itemRun([item(600)], settings), { once: other })
        for (let turn = 0; turn < 3; turn++) assert.deepEqual(await store.append(name, run, { once }), first)
        await check(name, itemsFrom(0, 601))
      }
    })

    it('was not remembered if it was refused, which leaves its key free for another', async () => {
      const name = await filled(3)
      const { key } = newOnce()
      const append = (id: number, digest: string) =>
        store.append(name, keyed([item(10 + id), item(id)]), { once: { key, digest } })
      for (const _ of [1, 2]) await assert.rejects(append(2, 'a'), isError('key-conflict'))
      await append(3, 'b')
      await assert.rejects(append(2, 'a'), isError('request-differs'))
      assert.deepEqual(await append(3, 'b'), await headOf(name))
      await check(name, [...itemsFrom(0, 3), item(13), item(3)])
    })

    it('before the first has ended is written once; those with other things in it are refused', async () => {
      const [name, mixed] = [await filled(0, {}), await filled(0, {})]
      const [once, { key }] = [newOnce(), newOnce()]
      const heads = await Promise.all(
        Array.from({ length: MANY }, () => store.append(name, itemRun(itemsFrom(0, 3)), { once })),
      )
      const head = await check(name, itemsFrom(0, 3))
      for (const each of heads) assert.deepEqual(each, head)
      const outcomes = await outcomesOf(
        itemsFrom(0, MANY).map((text, index) =>
          store.append(mixed, itemRun([text]), { once: { key, digest: String(index) } }),
        ),
      )
      assert.equal(outcomes.filter((each) => each === 'request-differs').length, MANY - 1)
      await check(mixed, [item(outcomes.indexOf('done'))])
    })

    it('is known after a restart', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      const append = (each: Store, id: number, digest: string) =>
        each.append(name, itemRun([item(id)]), { once: { ...once, digest } })
      const first = await elsewhere((again) => append(again, 1, 'a'))
      await elsewhere(async (again) => {
        assert.deepEqual(await append(again, 1, 'a'), first)
        await assert.rejects(append(again, 2, 'b'), isError('request-differs'))
      })
      await check(name, [item(1)])
    })

    it('is another one when the collection is another one by now, or gone', async () => {
      const name = await filled(2)
      const once = newOnce()
      const append = () => store.append(name, keyed([item(2)]), { once })
      await append()
      await store.drop(name)
      await assert.rejects(append(), isError('no-collection'))
      await store.create(name, KEYED)
      const second = await append()
      assert.deepEqual(await append(), second)
      assert.deepEqual(await check(name, [item(2)]), second)
    })

    it('may ensure a collection: it is new again, also with items by then, and made anew when it is gone', async () => {
      const name = newName()
      const once = newOnce()
      const first = await store.ensure(name, KEYED, { once })
      assert.equal(first.isNew, true)
      await store.append(name, keyed(itemsFrom(0, 3)))
      assert.deepEqual(await store.ensure(name, KEYED, { once }), first)
      const other = store.ensure(name, { ...KEYED, isPrivate: true }, { once: { ...once, digest: 'b' } })
      await assert.rejects(other, isError('request-differs'))
      await store.drop(name)
      const { head, isNew } = await store.ensure(name, KEYED, { once })
      assert.equal(isNew, true)
      assert.notEqual(head.id, first.head.id)
      assert.deepEqual(await store.head(name), head)
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
}
