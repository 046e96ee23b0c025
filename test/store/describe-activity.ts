/** The part of the specification about what a store counts of its own work. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { item, itemsFrom, keyed } from './items.ts'
import type { Subject } from './subject.ts'

function changesOf({ activity }: Store): number {
  return [...activity.commits].reduce((sum, [changes, commits]) => sum + changes * commits, 0)
}

export function describeActivity({ store, filled, load }: Subject): void {
  describe('the activity', () => {
    it('counts each change once, whatever commit it is in, but for those that are refused', async () => {
      const name = await filled(1)
      const before = changesOf(store)
      const appends = Array.from({ length: 20 }, (_, index) => store.append(name, keyed([item(index + 1)])))
      const refused = assert.rejects(store.append(name, keyed([item(0)])))
      assert.equal(store.activity.waitingChanges, 21)
      await Promise.all([...appends, refused])
      assert.equal(store.activity.waitingChanges, 0)
      assert.equal(changesOf(store) - before, 20)
      await load(name, itemsFrom(100, 10))
      assert.equal(changesOf(store) - before, 20, 'a load is no change')
    })

    it('counts reads by what was read', async () => {
      const name = await filled(1)
      const before = { ...store.activity.reads }
      await store.head(name)
      for (const form of ['raw', 'deflated'] as const) await store.page(name, 1, { form })
      for (const key of ['0', 'none', '0']) await store.item(name, key)
      const { head, page, item: items } = store.activity.reads
      assert.deepEqual([head - before.head, page - before.page, items - before.item], [1, 2, 3])
    })
  })
}
