/** The part of the specification about loads: many items that are seen at once, at the end. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import { REAM_SIZE } from '../../src/store/positions.ts'
import { allRefused, changed, isError, item, itemsFrom, keyed } from './items.ts'
import { readPageTexts } from './store-reading.ts'
import { KEYED, type Subject } from './subject.ts'

export function describeLoads({
  store,
  newName,
  filled,
  headOf,
  check,
  load,
  textOf,
  openAgain,
  elsewhere,
}: Subject): void {
  describe('loading', () => {
    it('takes runs that are given away, and leaves others as they are', async () => {
      for (const [begun, size] of [
        [0, 500],
        [0, 300],
        [250, 500],
      ] as const) {
        const name = await filled(begun)
        const texts = itemsFrom(begun, 1_200)
        const kept = keyed(texts.slice(0, size))
        const running = await store.load(name, { onConflict: 'skip' })
        for (let start = size; start < texts.length; start += size)
          await running.append({ ...keyed(texts.slice(start, start + size)), isTransferred: true })
        await running.append(kept)
        await running.append({ ...keyed(texts.slice(0, size)), isTransferred: true })
        await running.commit()
        assert.deepEqual(kept.text, keyed(texts.slice(0, size)).text)
        await check(name, [...itemsFrom(0, begun), ...texts.slice(size), ...texts.slice(0, size)])
      }
    })

    it('is unseen until its commit, and then seen whole', async () => {
      const name = await filled(700)
      const running = await store.load(name, { onConflict: 'replace' })
      await running.append(keyed(itemsFrom(700, 500)))
      await running.append(keyed([changed(3, 1), changed(699, 1), ...itemsFrom(1200, 498)]))
      const before = await check(name, itemsFrom(0, 700))
      assert.deepEqual([await textOf(name, 701), await textOf(name, 3)], [undefined, item(3)])
      const { head } = await running.commit()
      assert.equal(head.version, before.version + 1)
      await check(name, itemsFrom(0, 1698).with(3, changed(3, 1)).with(699, changed(699, 1)))
    })

    it('refuses other writers of its collection while it runs, and no others', async () => {
      const [name, unborn, other] = [await filled(0), newName(), await filled(0, {})]
      const running = await store.load(name)
      await running.append(keyed(itemsFrom(0, 600)))
      const creating = await store.load(unborn, { settings: KEYED })
      await elsewhere(async (again) => {
        for (const each of [store, again]) {
          await allRefused('busy', [
            each.append(name, keyed([item(1)])),
            each.load(name),
            each.drop(name),
            each.load(unborn),
            each.create(unborn),
            each.ensure(unborn, KEYED),
          ])
          await each.append(other, itemRun([item(1)]))
        }
      })
      await creating.abort()
      assert.equal(await store.head(unborn), undefined)
      await running.commit()
      await check(name, itemsFrom(0, 600))
    })

    it('of a certain state begins only in that state, and is then left in peace', async () => {
      const name = await filled(3)
      const state = await headOf(name)
      const { head } = await store.put(name, keyed([changed(1, 1)]))
      for (const isReplacement of [true, false])
        await assert.rejects(load(name, [item(3)], { state, isReplacement }), isError('precondition-failed'))
      await assert.rejects(store.load(name, { state: null }), isError('collection-exists'))
      const running = await store.load(name, { state: head, isReplacement: true })
      await running.append(keyed(itemsFrom(0, 600)))
      // These move the state, and none of the items.
      await store.setPrivate(name, true)
      await store.setRetention(name, { retentionMs: 1_000_000 })
      await store.forget(name)
      const { head: loaded } = await running.commit()
      assert.deepEqual([loaded.isPrivate, loaded.retentionMs, loaded.id], [true, 1_000_000, head.id])
      await check(name, itemsFrom(0, 600))
      await store.drop(name)
      await assert.rejects(store.load(name, { state: loaded }), isError('no-collection'))
    })

    it('of what is not there yet is begun once by many at once, and not where it is there by now', async () => {
      const name = newName()
      await elsewhere(async (again) => {
        const loads = [store, again, store].map((each) => each.load(name, { settings: KEYED, state: null }))
        const begun = await Promise.allSettled(loads)
        const [running, ...others] = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
        assert.equal(others.length, 0)
        await running?.append(keyed(itemsFrom(0, 3)))
        await running?.commit()
      })
      await assert.rejects(store.load(name, { settings: KEYED, state: null }), isError('collection-exists'))
      await check(name, itemsFrom(0, 3))
    })

    it('takes nothing more once it is being committed or was', async () => {
      const name = newName()
      const running = await store.load(name)
      await running.append(itemRun(itemsFrom(0, 700)))
      const committing = running.commit()
      await assert.rejects(running.append(itemRun(itemsFrom(700, 100))), isError('closed'))
      await committing
      await assert.rejects(running.append(itemRun(itemsFrom(700, 100))), isError('closed'))
      await check(name, itemsFrom(0, 700))
    })

    it('that is aborted leaves the hole counts of its collection alone', async () => {
      const name = await filled(2 * REAM_SIZE)
      await store.delete(name, ['1', '501', '502'])
      const load = await store.load(name)
      await load.append(keyed(itemsFrom(9000, REAM_SIZE)))
      await load.abort()
      await check(
        name,
        itemsFrom(0, 2 * REAM_SIZE).filter((text) => !/:(1|501|502)\}/.test(text)),
      )
      assert.deepEqual((await store.verify()).findings, [])
    })

    it('swaps a whole collection at once', async () => {
      const name = await filled(1300)
      await store.delete(name, ['5', '1299'])
      const before = await headOf(name)
      const running = await store.load(name, { isReplacement: true })
      await running.append(keyed(itemsFrom(100, 620)))
      assert.deepEqual(await check(name, itemsFrom(0, 1299).toSpliced(5, 1)), before)
      // The one change that a load does not keep others from.
      await store.setPrivate(name, true)
      const { head } = await running.commit()
      assert.deepEqual([head.id, head.generation, head.live], [before.id, before.generation + 1, 620])
      assert.equal(head.isPrivate, true)
      await check(name, itemsFrom(100, 620))
      assert.equal(await textOf(name, 50), undefined)
      await load(name, [], { isReplacement: true })
      await check(name, [])
    })

    it('names the item whose key is there already, and can skip or replace it', async () => {
      const name = await filled(700)
      const running = await store.load(name)
      await running.append(keyed(itemsFrom(700, 500)))
      await assert.rejects(running.append(keyed([item(5000), item(8)])), { index: 1, key: '8', earlier: undefined })
      await assert.rejects(running.commit(), isError('key-conflict'))
      await running.abort()
      await check(name, itemsFrom(0, 700))

      const more = [changed(8, 1), item(700), changed(700, 2), changed(699, 3), ...itemsFrom(701, 600), changed(900, 4)]
      const repeating = [...itemsFrom(5000, 500), item(6000), item(6001), item(6000)]
      for (const isReplacement of [false, true]) {
        const earlier = await store.load(name, { isReplacement })
        await earlier.append(keyed(itemsFrom(4000, 300)))
        await assert.rejects(earlier.append(keyed(repeating)), { index: 502, key: '6000', earlier: 800 })
        await earlier.abort()
      }

      const skipping = await store.load(name, { onConflict: 'skip' })
      assert.deepEqual(await skipping.append(keyed([item(8), item(5000), item(9), item(5000)])), [0, 2, 3])
      await skipping.abort()
      const skipped = await load(name, more, { onConflict: 'skip' })
      assert.deepEqual([skipped.appended, skipped.replaced, skipped.skipped], [601, 0, 4])
      await check(name, itemsFrom(0, 1301))

      const replaced = await load(name, more, { onConflict: 'replace' })
      assert.deepEqual([replaced.appended, replaced.replaced, replaced.skipped], [0, 605, 0])
      // Of two items with one key, 700, the second came later.
      const expected = itemsFrom(0, 1301).with(8, changed(8, 1)).with(699, changed(699, 3))
      expected.splice(700, 1, changed(700, 2))
      expected.splice(900, 1, changed(900, 4))
      await check(name, expected)
    })

    it('finds a key that is taken wherever it stands in a run, and leaves no gap for it', async () => {
      const name = await filled(5)
      const expected = itemsFrom(0, 5)
      const other = await openAgain()
      for (const [round, place] of [0, 19, 20, 47, 59].entries()) {
        const fresh = itemsFrom(100 * (round + 1), 60)
        // One that was there before the load, and one of the load itself.
        const run = keyed(fresh.with(place, changed(3, 1)))
        const again = keyed(fresh.with(place, changed(100 * (round + 1) + ((place + 1) % 60), 1)).toReversed())
        const refusing = await other.load(name)
        await assert.rejects(refusing.append(run), { index: place, key: '3' })
        await refusing.abort()
        const running = await store.load(name, { onConflict: 'skip' })
        await running.append(run)
        await running.append(again)
        const { appended, skipped } = await running.commit()
        assert.deepEqual([appended, skipped], [59, 61])
        expected.push(...fresh.toSpliced(place, 1))
        await check(name, expected)
      }
      await other.close()
    })

    it('blames no items for a key that came again after them', async () => {
      const running = await store.load(newName(), { settings: KEYED })
      const runs = Array.from({ length: 30 }, (_, index) => keyed(itemsFrom(index * 500, 500)))
      const outcomes = await Promise.allSettled([...runs, keyed([item(5)])].map((run) => running.append(run)))
      const statuses = outcomes.map(({ status }) => status)
      assert.deepEqual(statuses, [...runs.map(() => 'fulfilled'), 'rejected'])
      await running.abort()
    })

    it('replaces keys that repeat within the new items, and more items than one step takes', async () => {
      const name = newName()
      const repeated = [0, 700, 1599].map((id) => changed(id, 1))
      await load(name, [...itemsFrom(0, 5_600), ...repeated], { settings: KEYED, onConflict: 'replace' })
      const texts = itemsFrom(0, 5_600)
      for (const id of [0, 700, 1599]) texts[id] = changed(id, 1)
      await check(name, texts)
      const fresh = texts.map((_, id) => changed(id, 2))
      await load(name, fresh, { onConflict: 'replace' })
      await check(name, fresh)
    })

    it('takes large items and then many small ones, also more at once than it has memory for', async () => {
      const name = newName()
      const large = Array.from({ length: 500 }, (_, id) => item(id, `,"text":"${'x'.repeat(20_000)}"`))
      const small = itemsFrom(500, 3_000)
      const tiny = Array.from({ length: 140_000 }, () => '{}')
      assert.equal((await load(name, [...large, ...small, ...tiny])).appended, 143_500)
      assert.deepEqual(await readPageTexts(store, name, 1), large)
      assert.deepEqual(await readPageTexts(store, name, 2), small.slice(0, 500))
      assert.deepEqual(await readPageTexts(store, name, 287), tiny.slice(0, 500))
      await store.drop(name)
    })
  })
}
