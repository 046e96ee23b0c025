/** The part of the specification about collections that follow something. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Following } from '../../src/store/following.ts'
import { allRefused, isError, item, itemsFrom, keyed } from './items.ts'
import { KEYED, type Subject } from './subject.ts'

const FOLLOWING: Following = {
  source: 'public."Ereignisse ä" in postgres://db/shop',
  waiting: 12,
  asOf: 1_700_000_000_000,
  seenAt: 1_700_000_000_123,
}

export function describeFollowing({ store, newName, filled, headOf, check, elsewhere }: Subject): void {
  describe('what a collection follows', () => {
    const noted = async (...names: string[]) => (await store.followings()).filter(({ name }) => names.includes(name))

    it('is noted and changed without moving the collection, seen elsewhere at once, and listed by name', async () => {
      const names = [await filled(3), await filled(0), newName()].toSorted().toReversed()
      for (const name of names) await store.ensure(name, KEYED)
      const before = await store.collections()
      for (const name of names) await store.noteFollowing(name, { ...FOLLOWING, waiting: 0, asOf: 1 })
      const wanted = names.toReversed().map((name) => ({ name, ...FOLLOWING, source: `${name} in a file` }))
      for (const { name, ...following } of wanted.toReversed()) await store.noteFollowing(name, following)
      assert.deepEqual(await noted(...names), wanted)
      assert.deepEqual(await elsewhere((again) => again.followings()), await store.followings())
      assert.deepEqual(await store.collections(), before)
      for (const name of names) await store.noteFollowing(name, null)
      await store.noteFollowing(names[0] ?? '', null)
      assert.deepEqual(await noted(...names), [])
    })

    it('is noted while a load of the collection runs, and stays when all of it is replaced', async () => {
      const name = await filled(3)
      const running = await store.load(name, { isReplacement: true })
      await running.append(keyed(itemsFrom(0, 600)))
      await store.noteFollowing(name, FOLLOWING)
      await elsewhere((again) => again.noteFollowing(name, { ...FOLLOWING, waiting: 13 }))
      await running.commit()
      await check(name, itemsFrom(0, 600))
      assert.deepEqual(await noted(name), [{ name, ...FOLLOWING, waiting: 13 }])
    })

    it('is refused for a collection that is not there, also while it is being loaded', async () => {
      const name = newName()
      const running = await store.load(name, { settings: KEYED })
      await allRefused(
        'no-collection',
        [name, newName(), 'No name', ''].flatMap((each) => [
          store.noteFollowing(each, FOLLOWING),
          store.noteFollowing(each, null),
        ]),
      )
      await running.abort()
      assert.deepEqual(await noted(name), [])
    })

    it('goes with the collection: one that is made anew under the name follows nothing', async () => {
      const name = await filled(3)
      await store.noteFollowing(name, FOLLOWING)
      await store.drop(name)
      assert.deepEqual(await noted(name), [])
      await store.create(name, KEYED)
      assert.deepEqual(await noted(name), [])
    })

    it('is nothing of a collection that is dropped at the same time', async () => {
      await elsewhere(async (again) => {
        for (let round = 0; round < 20; round++) {
          const name = await filled(0)
          const noting = again.noteFollowing(name, FOLLOWING)
          await Promise.all([store.drop(name), noting.catch((error) => assert.ok(isError('no-collection')(error)))])
          assert.deepEqual(await noted(name), [])
        }
      })
    })

    it('hinders no writes, nor they it', async () => {
      const name = await filled(0)
      const calls = Array.from({ length: 50 }, (_, n) => [
        store.append(name, keyed([item(n)])),
        store.noteFollowing(name, { ...FOLLOWING, waiting: n }),
      ])
      await Promise.all(calls.flat())
      assert.equal((await headOf(name)).live, 50)
      assert.equal((await noted(name)).length, 1)
    })
  })
}
