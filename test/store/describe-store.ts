/** The specification of Store: every engine runs this suite against the real thing. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { itemRun } from '../../src/items/item-run.ts'
import { describeAbandonedLoads } from './describe-abandoned-loads.ts'
import { describeActivity } from './describe-activity.ts'
import { describeFollowing } from './describe-following.ts'
import { describeLoads } from './describe-loads.ts'
import { describeMirrors } from './describe-mirrors.ts'
import { describeModel } from './describe-model.ts'
import { describePages } from './describe-pages.ts'
import { describeRepeats } from './describe-repeats.ts'
import { describeRequestLog } from './describe-request-log.ts'
import { describeTokens } from './describe-tokens.ts'
import { describeVerify } from './describe-verify.ts'
import { describeWrites } from './describe-writes.ts'
import { allRefused, isError, item, itemsFrom, keyed } from './items.ts'
import { readItems } from './store-reading.ts'
import { KEYED, newSubject, type Subject } from './subject.ts'
import type { Engine, StoreUnderTest } from './test-store.ts'

/** `isShort` leaves what takes long to `random-histories.long.ts`. */
export function describeStore(engineName: string, engine: Engine, { isShort = false } = {}): void {
  describe(`store: ${engineName}`, () => {
    let opened: StoreUnderTest
    const subject = newSubject(() => opened)

    before(async () => {
      opened = await engine.open()
    })
    after(() => opened?.remove())

    it('begins without collections and tokens, and follows nothing', async () => {
      assert.deepEqual(await subject.store.collections(), [])
      assert.deepEqual(await subject.store.followings(), [])
      assert.deepEqual(await subject.store.tokens(), [])
    })

    // The more collections PostgreSQL holds, the longer a load takes to end. So suites with many loads come first.
    describeAbandonedLoads(subject, engine.leavesOut)
    describeLoads(subject)
    describeMirrors(subject)
    describeModel(subject, { runs: isShort ? 1 : 2, isShort })
    describeFollowing(subject)
    describeCollections(subject)
    describePages(subject)
    describeWrites(subject)
    describeRepeats(subject)
    describeRequestLog(subject)
    describeTokens(subject)
    describeActivity(subject)

    it('finds nothing wrong after all of this', async () => {
      const { findings, collections } = await subject.store.verify()
      assert.deepEqual(findings, [])
      assert.equal(collections, (await subject.store.collections()).length)
    })

    it('refuses everything after it was closed', async () => {
      const again = await opened.openAgain()
      await again.ping()
      await again.close()
      await allRefused('closed', [again.head('x'), again.append('x', itemRun([item(1)])), again.ping()])
    })

    describeVerify(engine, { isShort })
  })
}

function describeCollections({ store, newName, newOnce, filled, headOf, check, elsewhere }: Subject): void {
  describe('collections', () => {
    it('are created empty, with one empty page and the given settings', async () => {
      for (const settings of [KEYED, { keyField: 'sku', isPaginated: false, isPrivate: true }]) {
        const name = newName()
        const { head, isNew } = await store.ensure(name, settings)
        assert.equal(isNew, true)
        assert.deepEqual(head, { ...head, ...settings, name, live: 0, next: 0 })
        assert.deepEqual(await check(name, []), head)
        assert.deepEqual(await store.ensure(name, settings), { head, isNew: false })
      }
      const created = await store.create(newName())
      assert.deepEqual(created, { ...created, keyField: null, isPaginated: true, isPrivate: false })
    })

    it('are refused under a name that is taken, and under one that breaks the rule', async () => {
      const name = await filled(0)
      await assert.rejects(store.create(name), isError('collection-exists'))
      for (const wrong of ['', 'Events', 'a/b', '-a', '@a', 'a b', '*', 'x'.repeat(65)]) {
        await assert.rejects(store.create(wrong), isError('invalid-name'))
        await assert.rejects(store.ensure(wrong, KEYED), isError('invalid-name'))
        await assert.rejects(store.append(wrong, itemRun([item(1)]), { create: true }), isError('invalid-name'))
      }
    })

    it('are refused with a key that names no fields, or one twice', async () => {
      const name = newName()
      for (const [keyField, words] of [
        ['', /^Invalid key "": a name is empty; expected the name of a field, or several names /],
        ['a,', /"a,": a name is empty/],
        ['a,b,a', /the field "a" is named twice/],
        ['a\\', /a backslash comes before neither/],
        ['\ud800', /a lone surrogate/],
      ] as const) {
        await assert.rejects(store.create(name, { keyField }), isError('invalid-key-fields', words))
        await assert.rejects(store.ensure(name, { ...KEYED, keyField }), isError('invalid-key-fields', words))
        await assert.rejects(store.load(name, { settings: { keyField } }), isError('invalid-key-fields', words))
      }
      assert.equal(await store.head(name), undefined)
    })

    it('keep their settings: others are refused, naming both, and change nothing', async () => {
      const name = await filled(3)
      const before = await headOf(name)
      for (const [settings, words] of [
        [{ keyField: 'sku' }, /"id".*"sku"/s],
        [{ keyField: null }, /"id".*no key/s],
        [{ isPaginated: false }, /paginated.*unpaginated/s],
        [{ isPrivate: true }, /public.*private/s],
      ] as const) {
        await assert.rejects(store.ensure(name, { ...KEYED, ...settings }), isError('settings-differ', words))
        await assert.rejects(store.load(name, { settings }), isError('settings-differ', words))
      }
      await (await store.load(name, { settings: KEYED })).abort()
      assert.deepEqual(await check(name, itemsFrom(0, 3)), before)
    })

    it('are made once by many at once, whether they ensure them or append to them', async () => {
      const [name, other] = [newName(), newName()]
      const outcomes = await elsewhere((again) =>
        Promise.all(Array.from({ length: 40 }, (_, turn) => (turn % 2 ? store : again).ensure(name, KEYED))),
      )
      assert.equal(outcomes.filter(({ isNew }) => isNew).length, 1)
      assert.equal(new Set(outcomes.map(({ head }) => head.id)).size, 1)
      await Promise.all(itemsFrom(0, 150).map((text) => store.append(other, itemRun([text]), { create: true })))
      const head = await check(other, itemsFrom(0, 150))
      assert.deepEqual(head, { ...head, keyField: null, isPaginated: true, isPrivate: false })
    })

    it('are listed by name, with the time of the last change, which a load moves only at its end', async () => {
      const name = newName()
      const changedAt = async () => {
        await sleep(3)
        const listed = await store.collections()
        assert.deepEqual(
          listed,
          listed.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        )
        return listed.find((head) => head.name === name)?.changedAt ?? assert.fail('no time')
      }
      await store.create(name)
      const made = await changedAt()
      const running = await store.load(name)
      await running.append(itemRun(itemsFrom(0, 600)))
      assert.equal(await changedAt(), made)
      await running.commit()
      const loaded = await changedAt()
      assert.ok(loaded > made)
      await (await store.load(name)).abort()
      assert.equal(await changedAt(), loaded)
      await store.append(name, itemRun(itemsFrom(600, 1)))
      assert.ok((await changedAt()) > loaded)
    })

    it('can be made private or public, which changes nothing else', async () => {
      const name = newName()
      const created = await store.create(name, KEYED)
      for (const isPrivate of [true, false]) {
        const { version } = await headOf(name)
        const head = await store.setPrivate(name, isPrivate)
        assert.deepEqual(head, { ...created, isPrivate, version: version + 1, commitId: head.commitId })
      }
    })

    it('that are private are hidden from those who ask for what is public, from the first read on', async () => {
      const name = await filled(3)
      const onlyPublic = { isPublicOnly: true }
      for (const isPrivate of [true, false, true]) {
        await store.setPrivate(name, isPrivate)
        assert.equal((await store.page(name, 1, onlyPublic)) === undefined, isPrivate)
        assert.equal((await store.item(name, '1', onlyPublic)) === undefined, isPrivate)
        assert.notEqual(await store.page(name, 1), undefined)
      }
    })

    it('that do not exist are told so in every call', async () => {
      const run = keyed([item(1)])
      await allRefused('no-collection', [
        store.append('nope', run),
        store.put('nope', run),
        store.replace('nope', run),
        store.remove('nope', '1'),
        store.delete('nope', ['1']),
        store.drop('nope'),
        store.setPrivate('nope', true),
        readItems(store, 'nope'),
      ])
      for (const options of [{}, { isPublicOnly: true }]) {
        assert.equal(await store.head('nope', options), undefined)
        assert.equal(await store.page('nope', 1, options), undefined)
        assert.equal(await store.item('nope', '1', options), undefined)
      }
    })
  })

  describe('dropping a collection', () => {
    it('removes it; another of its name has another id, and refuses writes that mean the first', async () => {
      const name = await filled(1200)
      const { id: collectionId } = await headOf(name)
      const writes = [
        () => store.append(name, keyed([item(5000)]), { collectionId }),
        () => store.put(name, keyed([item(5001)]), {}, { collectionId }),
        () => store.put(name, keyed([item(1, ',"n":1')]), {}, { collectionId }),
        () => store.remove(name, '0', {}, { collectionId }),
      ]
      for (const write of writes) await write()
      await store.drop(name)
      assert.equal(await store.page(name, 1), undefined)
      for (const write of writes) await assert.rejects(write(), isError('no-collection'))
      assert.notEqual((await store.create(name, KEYED)).id, collectionId)
      await check(name, [])
      await store.append(name, keyed(itemsFrom(0, 2)))
      for (const write of writes) await assert.rejects(write(), isError('collection-changed'))
      await check(name, itemsFrom(0, 2))
    })

    it('in a certain state is done once by many at once, and never to another of that name', async () => {
      const name = await filled(0)
      const state = await headOf(name)
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store.drop(name, state)))
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      await assert.rejects(store.drop(name, state), isError('no-collection'))
      const { version, generation } = await store.create(name, KEYED)
      assert.deepEqual([version, generation], [state.version, state.generation])
      await assert.rejects(store.drop(name, state), isError('precondition-failed'))
      await check(name, [])
    })

    it('sent again leaves alone one that was created since', async () => {
      const name = await filled(2)
      const once = newOnce()
      const state = await headOf(name)
      await store.drop(name, state, { once })
      await store.create(name, KEYED)
      await store.drop(name, state, { once })
      await check(name, [])
      await assert.rejects(store.drop(name, state, { once: { ...once, digest: 'b' } }), isError('request-differs'))
    })
  })
}
