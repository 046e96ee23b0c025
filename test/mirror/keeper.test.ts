import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Keeper, Overtaken } from '../../src/mirror/keeper.ts'
import { RECENT_MS } from '../../src/store/following.ts'
import { openTestStore } from '../store/test-store.ts'

it('a process that lost a mirror to another one leaves the note of that one as it is', async (t) => {
  const { store, remove } = await openTestStore()
  t.after(remove)
  const options = { name: 'events', source: 'https://data.example/events', signal: new AbortController().signal }
  const load = await store.load(options.name, { state: null, isMirroring: true })
  await load.commit({ url: options.source, position: 'a' })
  const claim = async (keeper: Keeper) => {
    const onWait = () => assert.fail('another process keeps it')
    await keeper.claim(() => {}, onWait)
    await keeper.note(true)
    const [noted] = await store.followings()
    return noted ?? assert.fail('no note')
  }

  await using first = new Keeper(store, options)
  const noted = await claim(first)
  // The process stands still for so long that it is taken for dead.
  await store.noteFollowing(options.name, { ...noted, seenAt: Date.now() - RECENT_MS - 1_000 })
  await using second = new Keeper(store, options)
  const { holder } = await claim(second)
  assert.notEqual(holder, noted.holder)
  await assert.rejects(first.note(true), Overtaken)
  await first[Symbol.asyncDispose]()
  assert.deepEqual(
    (await store.followings()).map((each) => each.holder),
    [holder],
  )
})
