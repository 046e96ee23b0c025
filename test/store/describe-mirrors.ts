/** The part of the specification about mirrors: collections that know what they are a copy of. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { ItemChanges, Origin } from '../../src/store/store.ts'
import { allRefused, isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { KEYED, type Subject } from './subject.ts'

const URL = 'https://data.example/events'
const at = (position: string): Origin => ({ url: URL, position })

/** The puts first. */
function changes(texts: readonly string[], deletes: readonly string[] = []): ItemChanges {
  return { puts: keyed(texts), steps: [...texts.map(() => null), ...deletes] }
}

export function describeMirrors({ store, newName, filled, headOf, check, elsewhere }: Subject): void {
  describe('a mirror', () => {
    const mirrored = async (count: number, position: string): Promise<string> => {
      const name = newName()
      const load = await store.load(name, { settings: KEYED, state: null, isMirroring: true })
      await load.append(keyed(itemsFrom(0, count)))
      const { head } = await load.commit(at(position))
      assert.deepEqual(head.origin, at(position))
      return name
    }
    const follow = (name: string, from: string, to: string, texts: readonly string[] = [], deletes?: string[]) =>
      store.patch(name, changes(texts, deletes), { origin: { from: at(from), to: at(to) } })

    it('is what a load makes of a new collection, and of one that is there', async () => {
      const name = await mirrored(3, 'a')
      assert.deepEqual((await headOf(name)).origin, at('a'))
      const { id, commitId } = await headOf(name)
      const again = await store.load(name, { isReplacement: true, state: { id, commitId }, isMirroring: true })
      await again.append(keyed(itemsFrom(5, 600)))
      assert.deepEqual((await headOf(name)).origin, at('a'))
      await again.commit(at('b'))
      assert.deepEqual((await headOf(name)).origin, at('b'))
      await check(name, itemsFrom(5, 600))
      assert.equal((await headOf(await filled(2))).origin, null)
    })

    it('is where a load has brought it, also when that had no items', async () => {
      const name = await mirrored(3, 'a')
      const load = await store.load(name, { isMirroring: true })
      const { head } = await load.commit(at('b'))
      assert.deepEqual([head.origin, head.live], [at('b'), 3])
      assert.deepEqual((await headOf(name)).origin, at('b'))
      await check(name, itemsFrom(0, 3))
    })

    it('is patched from one state of its origin to another, what it shows and what it holds in one commit', async () => {
      const name = await mirrored(3, 'a')
      const { version } = await headOf(name)
      const { head } = await follow(name, 'a', 'b', [item(7)], ['1'])
      assert.deepEqual([head.origin, head.version, head.live], [at('b'), version + 1, 3])
      assert.deepEqual(await elsewhere((again) => again.head(name)), head)
      await assert.rejects(follow(name, 'a', 'c', [item(7)], ['1']), isError('precondition-failed'))
      const other = { origin: { from: { url: `${URL}2`, position: 'b' }, to: at('c') } }
      await assert.rejects(store.patch(name, changes([item(9)]), other), isError('precondition-failed'))
      assert.deepEqual(await headOf(name), head)
      // The next state differs in nothing but its name.
      const { head: next } = await follow(name, 'b', 'c')
      assert.deepEqual([next.origin, next.live], [at('c'), 3])
    })

    it('takes versions in the order in which they were sent, without waiting for each', async () => {
      const name = await mirrored(1, '0')
      const sent = Array.from({ length: 100 }, (_, n) => follow(name, `${n}`, `${n + 1}`, [item(n + 1)]))
      const versions = (await Promise.all(sent)).map(({ head }) => head.version)
      const [first = 0] = versions
      assert.deepEqual(
        versions,
        versions.map((_, n) => first + n),
      )
      await check(name, itemsFrom(0, 101))
      assert.deepEqual((await headOf(name)).origin, at('100'))
    })

    it('takes nothing behind a version that is refused', async () => {
      const name = await mirrored(1, '0')
      const sent = [
        follow(name, '0', '1', [item(1)]),
        follow(name, '1', '2', [], ['no such key']),
        follow(name, '2', '3', [item(2)]),
      ]
      assert.deepEqual(await outcomesOf(sent), ['done', 'no-item', 'precondition-failed'])
      assert.deepEqual((await headOf(name)).origin, at('1'))
      await check(name, itemsFrom(0, 2))
    })

    it('refuses every other write, and changes nothing', async () => {
      const name = await mirrored(3, 'a')
      const before = await headOf(name)
      await allRefused('mirror', [
        store.append(name, keyed([item(9)])),
        store.put(name, keyed([item(1)])),
        store.remove(name, '1'),
        store.patch(name, changes([item(9)])),
        store.replace(name, keyed([item(1)])),
        store.delete(name, ['1']),
        store.load(name),
        store.load(name, { isReplacement: true }),
      ])
      assert.deepEqual(await headOf(name), before)
      assert.deepEqual(await store.ensure(name, { ...KEYED, isPaginated: true, isPrivate: false }), {
        head: before,
        isNew: false,
      })
    })

    it('cannot be made of a collection that is none by a patch', async () => {
      const name = await filled(2)
      await assert.rejects(follow(name, 'a', 'b', [item(9)]), isError('precondition-failed'))
      assert.equal((await headOf(name)).origin, null)
    })

    it('stays one when it is hidden, its history is kept for longer, or forgotten; and can be dropped', async () => {
      const name = await mirrored(2, 'a')
      await store.setPrivate(name, true)
      await store.setRetention(name, { retentionMs: 60_000 })
      await store.forget(name)
      assert.deepEqual((await headOf(name)).origin, at('a'))
      await store.drop(name)
      assert.equal(await store.head(name), undefined)
    })

    it('is a collection like any other once it is detached, also for a load that had begun', async () => {
      const name = await mirrored(2, 'a')
      const { id, commitId } = await headOf(name)
      const load = await store.load(name, { isReplacement: true, state: { id, commitId }, isMirroring: true })
      assert.equal((await store.detach(name)).origin, null)
      await assert.rejects(load.commit(at('b')), isError('precondition-failed'))
      await load.abort()
      await store.append(name, keyed([item(2)]))
      await check(name, itemsFrom(0, 3))
      await assert.rejects(follow(name, 'a', 'b', [item(9)]), isError('precondition-failed'))
    })

    it('can be without a key', async () => {
      const name = newName()
      const load = await store.load(name, { state: null, isMirroring: true })
      await load.append(itemRun(['{"a":1}']))
      await load.commit(at('a'))
      const puts = itemRun(['{"a":2}', '{"a":2}'])
      await store.patch(name, { puts, steps: [null, null] }, { origin: { from: at('a'), to: at('b') } })
      await check(name, ['{"a":1}', '{"a":2}', '{"a":2}'])
    })
  })
}
