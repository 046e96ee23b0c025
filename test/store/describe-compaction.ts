/** What compacting a collection rests on, in every engine: a load that is fed with the collection's own items. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compactCollection } from '../../src/cli/commands/compact.ts'
import { isError, item, itemsFrom, keyed, keysFrom } from './items.ts'
import type { Subject } from './subject.ts'

const { signal } = new AbortController()

/** What is another afterwards. */
const MOVED = { generation: 0, version: 0, commitId: '', fullPagesId: '', next: 0 }

export function describeCompaction({ store, newName, newOnce, filled, headOf, check, textOf }: Subject): void {
  describe('compacting', () => {
    it('closes the holes, and keeps items, order, keys and settings', async () => {
      const shapes: [number, string[], boolean][] = [
        [1600, ['0'], true],
        [1501, keysFrom(0, 1500), true],
        [700, keysFrom(0, 700), true],
        [1300, keysFrom(0, 1300).filter((key) => Number(key) % 2 === 0), false],
      ]
      for (const [count, gone, isPaginated] of shapes) {
        const name = await filled(count, { keyField: 'id', isPaginated })
        await store.delete(name, gone)
        const old = await headOf(name)
        const texts = itemsFrom(0, count).filter((_, id) => !gone.includes(String(id)))
        const { head, closed } = await compactCollection(store, name, { signal })
        assert.deepEqual([closed, head.next], [gone.length, head.live])
        assert.deepEqual(await check(name, texts), head)
        assert.deepEqual({ ...head, ...MOVED }, { ...old, ...MOVED })
        assert.ok(head.generation > old.generation && head.version > old.version)
        assert.notEqual(head.commitId, old.commitId)
        assert.notEqual(head.fullPagesId, old.fullPagesId)
        await store.append(name, keyed(itemsFrom(9000, 700)))
        await store.delete(name, ['9000'])
        await check(name, [...texts, ...itemsFrom(9001, 699)])
      }
    })

    it('keeps the bytes of items and keys as they are', async () => {
      const name = await filled(1)
      const texts = [
        '{ "id" : "ä,b" ,"n":1.10}',
        '{"id":12345678901234567890,"a":1,"a":-0}',
        '{"id":"\\u00fc \\ud83d\\ude00"} ',
      ]
      await store.append(name, keyed(texts))
      await store.delete(name, ['0'])
      await compactCollection(store, name, { signal })
      await check(name, texts)
      assert.equal(await textOf(name, 'ü 😀'), texts[2])
    })

    it('leaves no trace when it is interrupted', async () => {
      const name = await filled(2200)
      await store.delete(name, ['7'])
      const old = await headOf(name)
      const interruption = new AbortController()
      const reason = new Error('interrupted')
      const onItems = () => interruption.abort(reason)
      await assert.rejects(compactCollection(store, name, { signal: interruption.signal, onItems }), reason)
      const texts = itemsFrom(0, 2200).toSpliced(7, 1)
      assert.deepEqual(await check(name, texts), old)
      await store.append(name, keyed([item(9000)]))
      await check(name, [...texts, item(9000)])
    })

    it('does not answer a request that is sent again with anything else than before', async () => {
      const name = await filled(700)
      await store.delete(name, keysFrom(0, 100))
      const once = newOnce()
      const first = await store.append(name, keyed([item(9000)]), { once })
      await compactCollection(store, name, { signal })
      assert.deepEqual(await store.append(name, keyed([item(9000)]), { once }), first)
      await check(name, [...itemsFrom(100, 600), item(9000)])
    })

    it('makes no collection where there is none', async () => {
      const name = newName()
      await assert.rejects(compactCollection(store, name, { signal }), isError('collection-changed'))
      assert.equal(await store.head(name), undefined)
    })
  })
}
