/** The part of the specification about writes of items: appends, puts, removals, and the conditions they may have. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemRun } from '../../src/items/item-run.ts'
import type { ItemConditions } from '../../src/store/store.ts'
import { allRefused, changed, isError, item, itemsFrom, keyed, outcomesOf } from './items.ts'
import { readItems, textsOf } from './store-reading.ts'
import { KEYED, type Subject } from './subject.ts'

/** Well formed, and the tag of nothing. */
const OTHER_TAG = `"${'x'.repeat(43)}"`

export function describeWrites(subject: Subject): void {
  const { store, newName, newOnce, filled, headOf, check, load, textOf, tagOf } = subject

  describe('appending', () => {
    it('changes nothing when there is nothing to append or to load', async () => {
      for (const keyField of [null, 'id']) {
        const name = await filled(3, { keyField })
        const before = await headOf(name)
        assert.deepEqual(await store.append(name, itemRun([], { keyField })), before)
        assert.deepEqual((await load(name, [])).head, before)
        assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
      }
    })

    it('refuses a key that is there already, and keeps nothing of that call', async () => {
      const name = await filled(700)
      const before = await headOf(name)
      const conflict = { code: 'key-conflict', name: 'ItemConflict', index: 600, key: '3' }
      await assert.rejects(store.append(name, keyed([...itemsFrom(1000, 600), item(3)])), conflict)
      await assert.rejects(store.append(name, keyed([item(2000), item(2000)])), isError('key-conflict'))
      assert.deepEqual(await check(name, itemsFrom(0, 700)), before)
      assert.equal(await textOf(name, 1000), undefined)
    })
  })

  it('a collection without a key refuses what needs one, and one with a key refuses items without', async () => {
    const [name, withKey] = [await filled(2, {}), await filled(2)]
    for (const conditions of [{}, { ifMatch: '*' }, { ifNoneMatch: '*' }] as const) {
      await assert.rejects(store.put(name, keyed([item(1)]), conditions), isError('no-key-field'))
      await assert.rejects(store.remove(name, '1', conditions), isError('no-key-field'))
    }
    const without = itemRun([item(7)])
    const running = await store.load(withKey)
    await allRefused('no-key-field', [
      store.delete(name, ['1']),
      store.replace(name, keyed([item(1)])),
      store.load(name, { onConflict: 'skip' }),
      store.load(newName(), { onConflict: 'replace' }),
      running.append(without),
    ])
    await running.abort()
    const calls = [store.append(withKey, without), store.replace(withKey, without), store.put(withKey, without)]
    await allRefused('no-key-field', calls)
    for (const each of [name, withKey]) await check(each, itemsFrom(0, 2))
  })

  it('an unpaginated collection has one page, and takes no more than 10,000 items', async () => {
    const name = await filled(10_000, { ...KEYED, isPaginated: false })
    const one = keyed([item(10_000)])
    await allRefused('unpaginated-full', [store.append(name, one), store.put(name, one)])
    await assert.rejects(load(name, [item(10_000)]), isError('unpaginated-full'))
    const read = (await store.page(name, 7)) ?? assert.fail()
    assert.equal(read.page, 0)
    assert.deepEqual(textsOf(read), itemsFrom(0, 10_000))
    assert.equal((await store.put(name, keyed([changed(7, 1)]))).isNew, false)
    assert.deepEqual(await readItems(store, name), itemsFrom(0, 10_000).with(7, changed(7, 1)))
    await store.remove(name, '7')
    assert.equal((await store.put(name, keyed([item(10_000)]))).isNew, true)
  })

  describe('putting an item', () => {
    it('keeps it byte for byte; the tag is that of the bytes', async () => {
      const name = await filled(499)
      const texts = [
        '{"id":500,"n":1.10,"m":12345678901234567890}',
        ' { "id" : 501 , "u":"ä€😀\\u00e4" }\t',
        '{"id":502,"n":1,"n":2}',
      ]
      for (const [index, text] of texts.entries()) {
        const { tag } = await store.put(name, keyed([text]))
        assert.match(tag, /^"[\x21\x23-\x7e]+"$/)
        assert.deepEqual([await textOf(name, 500 + index), await tagOf(name, 500 + index)], [text, tag])
        assert.equal((await store.put(name, keyed([text]))).tag, tag)
        assert.notEqual((await store.put(name, keyed([`${text} `]))).tag, tag)
        await store.put(name, keyed([text]))
      }
      await check(name, [...itemsFrom(0, 499), ...texts])
    })

    it('is refused for a run that does not hold one item', async () => {
      const name = await filled(600)
      const before = await headOf(name)
      for (const texts of [[], [item(1), item(2)], itemsFrom(598, 4)])
        await assert.rejects(store.put(name, keyed(texts)), RangeError)
      assert.deepEqual(await check(name, itemsFrom(0, 600)), before)
    })
  })

  describe('removing and deleting items', () => {
    it('is refused, like a replacement, for a key that is not there, and then keeps nothing of that call', async () => {
      const name = await filled(600)
      const before = await headOf(name)
      await allRefused('no-item', [
        store.delete(name, ['1', '2', 'nope']),
        store.delete(name, ['1', '1']),
        store.replace(name, keyed([changed(1, 1), item(5000)])),
        store.remove(name, '600'),
        store.remove(name, '600', { ifNoneMatch: '*' }),
        store.remove(name, '600', { ifNoneMatch: [OTHER_TAG] }),
      ])
      assert.deepEqual(await check(name, itemsFrom(0, 600)), before)
    })
  })

  describe('many changes at once', () => {
    it('see what those before them left, whether those were done or refused', async () => {
      const name = await filled(1200)
      const tag = await tagOf(name, 7)
      const [once, removing] = [newOnce(), newOnce()]
      const outcomes = await outcomesOf([
        store.put(name, keyed([changed(7, 1)]), { ifMatch: [tag] }),
        store.put(name, keyed([changed(7, 2)]), { ifMatch: [tag] }),
        store.put(name, keyed([changed(8, 3)]), { ifMatch: '*' }, { once }),
        store.delete(name, ['9', '10', 'nope']),
        store.remove(name, '11', {}, { once: removing }),
        store.remove(name, '11', {}, { once: removing }),
        store.remove(name, '11'),
        store.replace(name, keyed([changed(12, 4), item(11)])),
        store.put(name, keyed([changed(8, 5)]), {}, { once: { ...once, digest: 'b' } }),
        store.put(name, keyed([changed(11, 6)]), { ifNoneMatch: '*' }),
        store.replace(name, keyed([changed(7, 7), changed(700, 8), changed(1199, 9)])),
        store.delete(name, ['0', '499']),
      ])
      assert.deepEqual(outcomes, [
        ...['done', 'precondition-failed', 'done', 'no-item', 'done', 'done', 'no-item'],
        ...['no-item', 'request-differs', 'done', 'done', 'done'],
      ])
      const texts = [...itemsFrom(0, 1200), changed(11, 6)]
        .with(7, changed(7, 7))
        .with(8, changed(8, 3))
        .with(700, changed(700, 8))
        .with(1199, changed(1199, 9))
      await check(
        name,
        texts.filter((_, index) => ![0, 11, 499].includes(index)),
      )
    })

    it('change nothing of a collection that is dropped with them', async () => {
      const [name, other] = [await filled(1200), await filled(1200)]
      await Promise.all([
        store.put(name, keyed([changed(3, 1)])),
        store.put(other, keyed([changed(3, 1)])),
        store.drop(name),
        store.drop(await filled(0)),
      ])
      assert.equal(await store.head(name), undefined)
      await check(other, itemsFrom(0, 1200).with(3, changed(3, 1)))
    })
  })

  describe('a patch', () => {
    const puts = (...texts: string[]) => ({ puts: keyed(texts), steps: texts.map(() => null) })

    it('of a certain state, or a drop, is refused once anything has changed, and changes nothing', async () => {
      const name = await filled(3)
      for (const change of [
        () => store.append(name, keyed([item(3)])),
        () => store.put(name, keyed([changed(3, 1)])),
        () => store.remove(name, '3'),
        () => store.setPrivate(name, true),
        () => load(name, itemsFrom(0, 3), { isReplacement: true }),
      ]) {
        const state = await headOf(name)
        await change()
        const calls = [store.patch(name, puts(changed(1, 1)), { state }), store.drop(name, state)]
        await allRefused('precondition-failed', calls)
      }
      await check(name, itemsFrom(0, 3))
      const state = await headOf(name)
      await store.drop(name)
      await assert.rejects(store.patch(name, puts(item(1)), { state }), isError('no-collection'))
      await assert.rejects(store.patch(name, puts(item(1)), { state, create: true }), isError('precondition-failed'))
      assert.equal(await store.head(name), undefined)
    })

    it('of a certain state is done once by many at once, and again where it is sent again', async () => {
      const name = await filled(700)
      const state = await headOf(name)
      const outcomes = await outcomesOf(
        Array.from({ length: 20 }, (_, n) => store.patch(name, puts(changed(5, n)), { state })),
      )
      assert.deepEqual(outcomes.toSorted(), ['done', ...Array.from({ length: 19 }, () => 'precondition-failed')])
      const [{ head }, once] = [await store.patch(name, puts(item(5))), newOnce()]
      const done = await store.patch(name, puts(item(700)), { state: head, once })
      assert.deepEqual(await store.patch(name, puts(item(700)), { state: head, once }), done)
      await check(name, itemsFrom(0, 701))
    })

    it('passes over items that are the same, and moves nothing where all are', async () => {
      const name = await filled(700)
      const before = await headOf(name)
      const skipSame = true
      const same = puts(item(3), item(699), item(300), item(3))
      const counts = { appended: 0, replaced: 0, deleted: 0 }
      assert.deepEqual(await store.patch(name, same, { skipSame }), { head: before, ...counts })
      assert.deepEqual(await check(name, itemsFrom(0, 700)), before)
      assert.equal((await store.patch(name, same)).replaced, 4)

      const texts = [
        item(3),
        changed(4, 1),
        changed(4, 1),
        item(4),
        item(700),
        item(700),
        `${item(5)} `,
        item(6),
        item(6),
      ]
      const steps = [null, null, null, null, null, null, null, '6', null, null]
      const patched = await store.patch(name, { puts: keyed(texts), steps }, { skipSame })
      assert.deepEqual(patched, { ...patched, appended: 2, replaced: 3, deleted: 1 })
      await check(name, [
        ...itemsFrom(0, 700)
          .with(5, `${item(5)} `)
          .toSpliced(6, 1),
        item(700),
        item(6),
      ])
      const added = await store.patch(name, puts(item(3), item(701)), { skipSame })
      assert.deepEqual([added.appended, added.replaced, added.head.version], [1, 0, patched.head.version + 1])
    })

    it('passes over nothing where there are no keys', async () => {
      const name = await filled(3, {})
      const run = itemRun([item(1), item(1)])
      assert.equal((await store.patch(name, { puts: run, steps: [null, null] }, { skipSame: true })).appended, 2)
      await check(name, [...itemsFrom(0, 3), item(1), item(1)])
    })
  })

  describe('conditions', () => {
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
      ...(['*', [OTHER_TAG], []] as const).map((ifNoneMatch) => ({ ifNoneMatch })),
    ]
    const failingWithout: ItemConditions[] = (['*', [OTHER_TAG], []] as const).map((ifMatch) => ({ ifMatch }))
    const refuses = async (name: string, id: number, conditions: ItemConditions): Promise<void> => {
      const told = JSON.stringify(conditions)
      await assert.rejects(store.put(name, keyed([changed(id, 1)]), conditions), isError('precondition-failed'), told)
      await assert.rejects(store.remove(name, String(id), conditions), isError('precondition-failed'), told)
    }

    for (const [place, id] of [
      ['a ream', 2],
      ['the tail', 1001],
    ] as const)
      it(`on an item in ${place}: it is replaced and removed where they hold, and else nothing changes`, async () => {
        const name = await filled(1003)
        const before = await headOf(name)
        for (const conditions of failing(await tagOf(name, id))) await refuses(name, id, conditions)
        assert.deepEqual(await check(name, itemsFrom(0, 1003)), before)
        for (let turn = 0; turn < holding('').length; turn++) {
          const put = await store.put(name, keyed([changed(id, turn)]), holding(await tagOf(name, id))[turn])
          assert.deepEqual([put.isNew, put.tag], [false, await tagOf(name, id)])
        }
        for (const conditions of holding(await tagOf(name, id))) {
          assert.equal((await store.remove(name, String(id), conditions)).live, 1002)
          await store.put(name, keyed([changed(id, 6)]))
        }
        await check(name, [...itemsFrom(0, id), ...itemsFrom(id + 1, 1002 - id), changed(id, 6)])
      })

    it('on an item that is not there: it is created where they hold, and else nothing changes', async () => {
      const name = await filled(3)
      const before = await headOf(name)
      for (const conditions of failingWithout) await refuses(name, 9, conditions)
      assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
      for (const [index, conditions] of holdingWithout.entries())
        assert.equal((await store.put(name, keyed([item(10 + index)]), conditions)).isNew, true)
      await check(name, [...itemsFrom(0, 3), ...itemsFrom(10, holdingWithout.length)])
    })
  })
}
