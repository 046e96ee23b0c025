/** The part of the specification about what a store remembers of requests, and for how long. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { changed, isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import type { Subject } from './subject.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export function describeRequestLog({ opened, store, newOnce, filled, headOf, check }: Subject): void {
  describe('what is remembered of requests', () => {
    const remembered = async (first: string): Promise<unknown[]> =>
      (await opened().rows.values('request_log', 'key')).filter((key) => String(key).startsWith(first))
    const age = (key: string, ms: number) => opened().ageRequests(ms, [key])

    it('counts for 24 hours', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      const append = (id: number, digest: string) =>
        store.append(name, itemRun([item(id)]), { once: { ...once, digest } })
      await append(1, 'a')
      await age(once.key, DAY_MS - 60_000)
      await append(1, 'a')
      await check(name, [item(1)])
      await age(once.key, DAY_MS)
      await append(2, 'b')
      await check(name, itemsFrom(1, 2))
      await assert.rejects(append(1, 'a'), isError('request-differs'))
    })

    it('is removed when it no longer counts, some with every write', async () => {
      const name = await filled(0, {})
      const keys = Array.from({ length: 250 }, (_, index) => `aged ${1000 + index}`)
      const more = Array.from({ length: 120 }, (_, index) => `aged ${2000 + index}`)
      const send = (all: string[]) =>
        Promise.all(all.map((key) => store.append(name, itemRun([item(1)]), { once: { key, digest: 'a' } })))
      await send(keys)
      assert.deepEqual(await remembered('aged'), keys)
      await opened().ageRequests(DAY_MS, keys.slice(0, 240))
      await send(more)
      assert.deepEqual(await remembered('aged'), [...keys.slice(240), ...more])
    })

    it('is removed alone: another collection of that name may have answered the same key since', async () => {
      const name = await filled(0, {})
      const once = newOnce()
      await store.append(name, itemRun([item(1)]), { once })
      await age(once.key, DAY_MS)
      await store.drop(name)
      await store.create(name)
      for (const _ of [1, 2]) await store.append(name, itemRun([item(1)]), { once })
      assert.deepEqual(await remembered(once.key), [once.key])
      await check(name, [item(1)])
    })

    it('is written together with the write, without harm to others in the same commit', async () => {
      const name = await filled(600)
      const once = { key: 'forbidden', digest: 'a' }
      const before = await headOf(name)
      const allow = await opened().forbidRequest(once.key)
      try {
        await assert.rejects(store.append(name, keyed([item(600)]), { once }))
        assert.deepEqual(await headOf(name), before)
        const outcomes = await outcomesOf([
          store.put(name, keyed([changed(2, 1)])),
          store.append(name, keyed([item(600)]), { once }),
          store.put(name, keyed([changed(3, 1)]), {}, { once }),
          store.remove(name, '4', {}, { once }),
          store.remove(name, '5'),
        ])
        assert.deepEqual(
          outcomes.map((each) => each === 'done'),
          [true, false, false, false, true],
        )
      } finally {
        await allow()
      }
      const left = itemsFrom(0, 600).with(2, changed(2, 1)).toSpliced(5, 1)
      await check(name, left)
      await store.append(name, keyed([item(600)]), { once })
      await check(name, [...left, item(600)])
      assert.deepEqual(await remembered(once.key), [once.key])
    })
  })
}
